// Requests in flight: their ends, late replies, and deadlines, with times that the test chooses.
#include "server/in_flight.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

TEST(RequestsInFlight, Request_Ended_IsEndedOnce) {
  RequestsInFlight requests;
  auto peer = std::make_shared<Peer>();
  const std::uint64_t serial = requests.begin(peer, 7, kVerbOf<wire::ResetRequest>, 100, 0);
  EXPECT_EQ(1u, requests.count());
  const auto ended = requests.end(*peer, 7, serial);
  ASSERT_TRUE(ended);
  EXPECT_EQ(kVerbOf<wire::ResetRequest>, ended->verb);
  EXPECT_EQ(100, ended->started_ns);
  EXPECT_FALSE(requests.end(*peer, 7, serial));
  EXPECT_EQ(0u, requests.count());
}

TEST(RequestsInFlight, LateReply_IdUsedAgain_DoesNotEndTheLaterRequest) {
  RequestsInFlight requests;
  auto peer = std::make_shared<Peer>();
  const std::uint64_t first = requests.begin(peer, 7, kVerbOf<wire::StepRequest>, 100, 0);
  ASSERT_TRUE(requests.end(*peer, 7, first));
  const std::uint64_t second = requests.begin(peer, 7, kVerbOf<wire::StepRequest>, 200, 0);
  EXPECT_FALSE(requests.end(*peer, 7, first));
  EXPECT_EQ(nullptr, RequestsInFlight::find(*peer, 7, first));
  EXPECT_NE(nullptr, RequestsInFlight::find(*peer, 7, second));
  EXPECT_EQ(1u, requests.count());
}

TEST(RequestsInFlight, Deadlines_InAnyOrder_ComeByTime) {
  RequestsInFlight requests;
  auto peer = std::make_shared<Peer>();
  EXPECT_EQ(INT64_MAX, requests.next_overdue_ns());
  requests.begin(peer, 1, kVerbOf<wire::StepRequest>, 0, 300);
  requests.begin(peer, 2, kVerbOf<wire::StepRequest>, 0, 100);
  requests.begin(peer, 3, kVerbOf<wire::StepRequest>, 0, 0);
  const std::uint64_t ended = requests.begin(peer, 4, kVerbOf<wire::StepRequest>, 0, 50);
  requests.end(*peer, 4, ended);
  EXPECT_EQ(100, requests.next_overdue_ns());
  EXPECT_FALSE(requests.take_overdue(99));
  const auto first = requests.take_overdue(300);
  const auto second = requests.take_overdue(300);
  ASSERT_TRUE(first && second);
  EXPECT_EQ((std::vector<std::int64_t>{2, 1}), (std::vector<std::int64_t>{first->id, second->id}));
  EXPECT_FALSE(requests.take_overdue(INT64_MAX));
}

TEST(RequestsInFlight, Deadline_ConnectionForgotten_IsSkipped) {
  RequestsInFlight requests;
  auto gone = std::make_shared<Peer>();
  requests.begin(gone, 1, kVerbOf<wire::StepRequest>, 0, 100);
  gone.reset();
  auto peer = std::make_shared<Peer>();
  requests.begin(peer, 2, kVerbOf<wire::StepRequest>, 0, 200);
  const auto due = requests.take_overdue(1000);
  ASSERT_TRUE(due);
  EXPECT_EQ(2, due->id);
}

}  // namespace
}  // namespace hone
