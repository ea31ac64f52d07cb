// The evaluator's counters for each client.
#include "evaluate/counters.hpp"

#include <gtest/gtest.h>

#include "model/caught.hpp"

namespace hone {
namespace {

Verdict caught(const std::string& what) {
  Verdict verdict;
  verdict.outcome = Outcome::kWrong;
  verdict.caught = what;
  return verdict;
}

TEST(Counters, CaughtClasses_AreCountedByClient) {
  Counters counters;
  counters.count(caught(caught::kWroteOutside), "a");
  counters.count(caught(caught::kWroteOutside), "a");
  counters.count(caught(""), "a");
  Verdict looked = caught(caught::kSecondLook);
  looked.second_look = "disagreed";
  counters.count(looked, "b");
  counters.count(unavailable("no device"), "b");  // a fault of ours was no judgement
  const Value value = counters.value();
  const Value& a = *value.find("clients")->find("a");
  EXPECT_EQ(a.find("judged")->as_int(), 3);
  EXPECT_EQ(a.find("caught")->find("wrote_outside")->as_int(), 2);
  EXPECT_EQ(a.find("caught")->as_map().size(), 1u);
  const Value& b = *value.find("clients")->find("b");
  EXPECT_EQ(b.find("judged")->as_int(), 1);
  EXPECT_EQ(b.find("second_looks")->find("disagreed")->as_int(), 1);
}

TEST(Counters, ClientThatWaitsForItsFirstResult_HasCountersAtZero) {
  Counters counters;
  counters.count(caught(""), "a");
  counters.expect("a");
  counters.expect("b");
  const Value value = counters.value();
  EXPECT_EQ(*value.find("clients")->find("a")->find("judged"), Value(1));
  ASSERT_NE(value.find("clients")->find("b"), nullptr);
  EXPECT_EQ(*value.find("clients")->find("b")->find("judged"), Value(0));
  for (std::size_t i = 0; i < 2 * Counters::kClientsMax; ++i)
    counters.expect("client " + std::to_string(i));
  EXPECT_EQ(counters.value().find("clients")->as_map().size(), Counters::kClientsMax + 1)
      << "with those that are counted together";
}

TEST(Counters, ClientThatCancelsAllItsWork_IsNotAmongTheClients) {
  Counters counters;
  const auto has_client = [&counters] {
    return counters.value().find("clients")->find("a") != nullptr;
  };
  counters.expect("a");
  counters.expect("a");
  counters.count(Error{Code::kCancelled, "by the client"}, "a");
  EXPECT_TRUE(has_client()) << "it waits for another result";
  counters.count(Tool::kCheck, Error{Code::kCancelled, "by the client"}, "a");
  EXPECT_FALSE(has_client());
  counters.expect("a");
  counters.expect("a");
  counters.count(caught(""), "a");
  counters.count(Error{Code::kCancelled, "by the client"}, "a");
  EXPECT_TRUE(has_client()) << "it has a result";
  EXPECT_EQ(*counters.value().find("faults"), Value::map({{"cancelled", 2}}));
}

TEST(Counters, CaughtClassOfAToolCall_IsCountedUnderANameOfItsOwn) {
  Counters counters;
  Verdict looked = caught(caught::kSecondLook);
  looked.second_look = "disagreed";
  counters.count(Tool::kProfile, Examination{looked, Value::map()}, "a");
  counters.count(Tool::kCheck, Examination{caught(caught::kWroteOutside), Value::map()}, "a");
  counters.count(Tool::kCheck, Examination{caught(""), Value::map()}, "a");
  counters.count(Tool::kCompile, Examination{}, "b");
  counters.count(Tool::kCheck, unavailable("no device"), "b");
  const Value value = counters.value();
  const Value& a = *value.find("clients")->find("a");
  EXPECT_EQ(*a.find("tool_caught"), Value::map({{"second_look", 1}, {"wrote_outside", 1}}));
  EXPECT_EQ(*a.find("tool_second_looks"), Value::map({{"disagreed", 1}}));
  EXPECT_EQ(*a.find("caught"), Value::map()) << "these are of steps";
  EXPECT_EQ(*a.find("judged"), Value(0));
  EXPECT_EQ(value.find("clients")->find("b"), nullptr);
  EXPECT_EQ(*value.find("tools"), Value::map({{"check", 2}, {"compile", 1}, {"profile", 1}}));
  EXPECT_EQ(*value.find("tool_errors"), Value::map({{"check", 1}}));
}

TEST(Counters, StageThatWasNotReached_IsNotCounted) {
  Counters counters;
  Verdict judged = caught(""), failed = judged;
  judged.stage_ms = {{"queue", 0}, {"build", 900}, {"prepare", 3},  {"load", 2},   {"check", 5},
                     {"wait", 0},  {"measure", 0}, {"attempts", 4}, {"total", 914}};
  failed.stage_ms = {{"queue", 2}, {"build", 300}, {"prepare", 0}, {"load", 0},
                     {"check", 0}, {"wait", 0},    {"measure", 0}, {"total", 302}};
  counters.count(judged, "a");
  counters.count(failed, "a");
  const Value value = counters.value();
  const Value& stages = *value.find("stage_ms");
  const auto count = [&stages](const char* stage) {
    const Value* of = stages.find(stage);
    return of == nullptr ? 0 : of->find("count")->as_int();
  };
  EXPECT_EQ(count("queue"), 2) << "each one is queued, if only for 0 ms";
  EXPECT_EQ(count("build"), 2);
  EXPECT_EQ(count("check"), 1);
  EXPECT_EQ(count("wait"), 1) << "it was at a device, and did not wait";
  EXPECT_EQ(count("measure"), 0);
  EXPECT_EQ(count("total"), 2);
}

TEST(Counters, ManyClientNames_UseBoundedMemory) {
  Counters counters;
  for (std::size_t i = 0; i < 3 * Counters::kClientsMax; ++i) {
    counters.count(caught(""), "client " + std::to_string(i));
  }
  const Value value = counters.value();
  const Value& clients = *value.find("clients");
  EXPECT_EQ(clients.as_map().size(), Counters::kClientsMax + 1);
  EXPECT_EQ(clients.find("(others)")->find("judged")->as_int(),
            static_cast<std::int64_t>(2 * Counters::kClientsMax));
}

TEST(Counters, ManyUnscoredStepsOfAClient_AreFlagged) {
  Counters counters;
  const auto of = [&](const char* client) {
    return *counters.value().find("clients")->find(client);
  };
  for (int i = 0; i < 200; ++i) counters.count(caught(""), "long");
  for (int i = 0; i < 5; ++i) {
    counters.count(unavailable("killed"), "often");
    counters.count(unavailable("killed"), "long");
    counters.count(Error{Code::kCancelled, "cancelled"}, "cancels");
  }
  EXPECT_EQ(of("often").find("unscored")->as_int(), 5);
  EXPECT_TRUE(of("often").find("often_unscored")->as_bool());
  EXPECT_EQ(of("long").find("unscored")->as_int(), 5);
  EXPECT_FALSE(of("long").find("often_unscored")->as_bool()) << "5 of 205";
  EXPECT_EQ(counters.value().find("clients")->find("cancels"), nullptr);
}

}  // namespace
}  // namespace hone
