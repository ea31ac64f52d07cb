// The queue: clients take turns, and so do the episodes of one client.
#include "evaluate/fair_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone {
namespace {

std::vector<std::string> drain(FairQueue<std::string>& queue) {
  std::vector<std::string> order;
  while (auto item = queue.pop()) order.push_back(*item);
  return order;
}

TEST(FairQueue, QuietClient_NeverWaitsBehindABurst) {
  FairQueue<std::string> queue;
  for (int i = 0; i < 3; ++i) queue.push("busy", "e", "b" + std::to_string(i));
  queue.push("quiet", "e", "q0");
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"b0", "q0", "b1", "b2"}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(FairQueue, EpisodesOfAClient_TakeTurnsAndKeepTheirOrder) {
  FairQueue<std::string> queue;
  for (const char* item : {"a0", "a1", "a2"}) queue.push("c", "a", item);
  queue.push("c", "b", "b0");
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"a0", "b0", "a1", "a2"}));
}

TEST(FairQueue, ManyEpisodes_AreServedInTurn) {
  FairQueue<std::string> queue;
  for (int turn = 0; turn < 4; ++turn) {
    for (int e = 0; e < 256; ++e) queue.push("c", std::to_string(e), std::to_string(e));
  }
  std::vector<std::string> order = drain(queue);
  ASSERT_EQ(order.size(), 1024u);
  for (int e = 0; e < 256; ++e) EXPECT_EQ(order[static_cast<std::size_t>(e)], std::to_string(e));
}

TEST(FairQueue, ReadyTask_ComesFirstWithinItsClient) {
  FairQueue<std::string> queue;
  for (const char* item : {"a0 cold", "a1 ready"}) queue.push("c", "a", item);
  queue.push("c", "b", "b0 cold");
  queue.push("c", "d", "d0 ready");
  queue.push("other", "e", "e0 cold");
  queue.push("other", "f", "f0 ready");
  const auto pop = [&] {
    return queue.pop_by(
        [](const std::string& item) { return item.find("ready") == std::string::npos ? 1 : 0; });
  };
  std::vector<std::string> order;
  while (auto item = pop()) order.push_back(*item);
  EXPECT_EQ(order, (std::vector<std::string>{"d0 ready", "f0 ready", "a0 cold", "e0 cold",
                                             "a1 ready", "b0 cold"}));
}

TEST(FairQueue, Episode_IsPassedOverALimitedNumberOfTimes) {
  FairQueue<std::string> queue;
  queue.push("c", "cold", "cold");
  for (int i = 0; i < 20; ++i) queue.push("c", std::to_string(i), "ready");
  int before = 0;
  while (queue.pop_by([](const std::string& item) { return item == "cold" ? 1 : 0; }) != "cold")
    ++before;
  EXPECT_EQ(before, 16);
  EXPECT_EQ(queue.size(), 4u);
}

/// However many there are.
TEST(FairQueue, EveryEpisode_HasTheSameLimit) {
  FairQueue<std::string> queue;
  for (int i = 0; i < 8; ++i) queue.push("c", "cold" + std::to_string(i), "cold");
  for (int i = 0; i < 60; ++i) queue.push("c", std::to_string(i), "ready");
  int before = 0;
  for (int cold = 0; cold < 8; ++before) {
    const auto item = queue.pop_by([](const std::string& one) { return one == "cold" ? 1 : 0; });
    cold += item == "cold" ? 1 : 0;
  }
  EXPECT_EQ(before, 16 + 8);
}

TEST(FairQueue, ItemForAnotherDevice_KeepsItsPlace) {
  FairQueue<std::string> queue;
  queue.push("a", "e", "native");
  queue.push("b", "e", "native");
  queue.push("b", "f", "module");
  const auto modules = [](const std::string& item) { return item == "module" ? 0 : -1; };
  EXPECT_EQ(queue.pop_by(modules), "module");
  EXPECT_EQ(queue.pop_by(modules), std::nullopt);
  EXPECT_EQ(drain(queue), (std::vector<std::string>{"native", "native"}));
}

}  // namespace
}  // namespace hone
