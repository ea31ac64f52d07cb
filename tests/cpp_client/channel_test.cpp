// A channel of the C++ client: waits between attempts, time limits, and the order of requests.
#include "channel.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;

RequestPtr request(std::int64_t id) {
  auto made = std::make_shared<Request>();
  made->id = id;
  return made;
}

TEST(Channel, LostConnections_InARow_WaitLongerUpToASecond) {
  Channel channel("tcp://server:1");
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    channel.lose(kSecond);
    waits.push_back((channel.retry_ns() - kSecond) / kMs);
  }
  EXPECT_EQ((std::vector<std::int64_t>{10, 20, 40, 80, 160, 320, 640, 1000, 1000}), waits);
  channel.note_answer();
  channel.lose(kSecond);
  EXPECT_EQ(kSecond + 10 * kMs, channel.retry_ns());
}

TEST(Channel, TimeWithoutServer_CountsFromTheFirstLoss) {
  Channel channel("tcp://server:1");
  EXPECT_EQ(INT64_MAX, channel.given_up_ns({}, 30));
  channel.note_away(5 * kSecond);
  channel.note_away(9 * kSecond);
  EXPECT_EQ(35 * kSecond, channel.given_up_ns({}, 30));
  EXPECT_EQ(INT64_MAX, channel.given_up_ns({}, 0));
  channel.note_present();
  EXPECT_EQ(INT64_MAX, channel.given_up_ns({}, 30));
}

TEST(Channel, LongestWait_IsOfTheRequestThatFailsFirst) {
  Channel channel("tcp://server:1");
  for (const std::int64_t asked_s : {9, 3}) {
    channel.add(request(asked_s));
    channel.waiting().back()->asked_ns = asked_s * kSecond;
  }
  EXPECT_FALSE(channel.longest_wait(30)) << "a server is there";
  channel.note_away(5 * kSecond);
  EXPECT_EQ(channel.longest_wait(30)->since_ns, 5 * kSecond);
  EXPECT_EQ(channel.longest_wait(30)->until_ns, 35 * kSecond);
  EXPECT_EQ(channel.longest_wait(0)->until_ns, INT64_MAX);
  channel.take_waiting(3);
  EXPECT_EQ(channel.longest_wait(30)->since_ns, 9 * kSecond);
  channel.take_waiting(9);
  EXPECT_FALSE(channel.longest_wait(30)) << "no request waits";
}

TEST(Channel, Connection_WithoutMessages_IsSilent) {
  Channel channel("tcp://server:1");
  EXPECT_FALSE(channel.is_silent(100 * kSecond, kSecond));
  channel.enter(Channel::State::kReady, 10 * kSecond);
  EXPECT_FALSE(channel.is_silent(11 * kSecond, kSecond));
  EXPECT_TRUE(channel.is_silent(12 * kSecond, kSecond));
  channel.note_heard(12 * kSecond);
  EXPECT_FALSE(channel.is_silent(12 * kSecond, kSecond));
}

TEST(Channel, ServerShutsDown_ReadyChannel_IsLeaving) {
  Channel channel("tcp://server:1");
  channel.enter(Channel::State::kConnecting, 0);
  channel.note_shutdown(kSecond, 0);
  EXPECT_EQ(Channel::State::kConnecting, channel.state());
  channel.enter(Channel::State::kReady, kSecond);
  channel.note_shutdown(kSecond, 0);
  EXPECT_EQ(Channel::State::kLeaving, channel.state());
  EXPECT_TRUE(channel.has_left());
}

TEST(Channel, ServerShutsDown_TimeLimitCountsFromItsEnd) {
  Channel channel("tcp://server:1");
  channel.enter(Channel::State::kReady, 0);
  channel.note_shutdown(5 * kSecond, 60'000);
  EXPECT_EQ(95 * kSecond, channel.given_up_ns({}, 30));
  channel.note_next_server();
  EXPECT_EQ(35 * kSecond, channel.given_up_ns({}, 30));
  channel.note_shutdown(5 * kSecond, INT64_MAX);  // no server drains for longer than an hour
  EXPECT_EQ((5 + 3600 + 30) * kSecond, channel.given_up_ns({}, 30));
}

TEST(Channel, WaitingRequests_AddedById_KeepTheirOrder) {
  Channel channel("tcp://server:1");
  for (const std::int64_t id : {2, 5}) channel.add(request(id));
  for (const std::int64_t id : {7, 3, 1}) channel.add_by_id(request(id));
  EXPECT_EQ(5, channel.take_waiting(5)->id);
  EXPECT_EQ(nullptr, channel.take_waiting(5));
  std::vector<std::int64_t> ids;
  for (const RequestPtr& one : channel.take_all_waiting()) ids.push_back(one->id);
  EXPECT_EQ((std::vector<std::int64_t>{1, 2, 3, 7}), ids);
}

}  // namespace
}  // namespace hone
