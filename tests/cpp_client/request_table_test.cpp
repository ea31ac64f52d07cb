// The client's table of requests: deadlines, retries, and steps that wait for an earlier one.
#include "request_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

RequestPtr step(std::int64_t id, std::int64_t deadline_ns = 0) {
  auto made = std::make_shared<Request>();
  made->id = id;
  made->verb = "step";
  made->episode = "e";
  made->deadline_ns = deadline_ns;
  return made;
}

TEST(RequestTable, Deadlines_AreTakenOnceInOrder) {
  RequestTable table;
  table.add(step(1, 300));
  table.add(step(2, 100));
  table.add(step(3));
  const RequestPtr ended = step(4, 50);
  table.add(ended);
  EXPECT_TRUE(table.remove(*ended));
  EXPECT_FALSE(table.remove(*ended));
  EXPECT_EQ(100, table.next_ns());
  EXPECT_EQ(nullptr, table.take_expired(99));
  EXPECT_EQ(2, table.take_expired(300)->id);
  table.set_deadline(*table.find(2), 400);
  EXPECT_EQ(1, table.take_expired(300)->id);
  EXPECT_EQ(nullptr, table.take_expired(300));
  EXPECT_EQ(2, table.take_expired(400)->id);
  EXPECT_EQ(INT64_MAX, table.next_ns());
}

TEST(RequestTable, Retries_AreTakenAtTheirTime) {
  RequestTable table;
  const RequestPtr request = step(1);
  table.add(request);
  table.retry_at(request, 200);
  EXPECT_EQ(200, table.next_ns());
  EXPECT_EQ(nullptr, table.take_retry(199));
  EXPECT_EQ(request, table.take_retry(200));
  table.retry_at(request, 300);
  EXPECT_EQ(request, table.take_delayed(1));
  EXPECT_EQ(nullptr, table.take_retry(300));
}

TEST(RequestTable, Step_EarlierStepsEnd_WaitsForAllOfThem) {
  RequestTable table;
  EXPECT_FALSE(table.hold(step(1)));
  table.begin_ending("e");
  table.begin_ending("e");
  EXPECT_TRUE(table.hold(step(2)));
  EXPECT_TRUE(table.hold(step(3)));
  auto other = step(4);
  other->episode = "f";
  EXPECT_FALSE(table.hold(other));
  EXPECT_TRUE(table.end_ending("e").empty());
  EXPECT_EQ(3, table.take_delayed(3)->id);
  const std::vector<RequestPtr> released = table.end_ending("e");
  ASSERT_EQ(1u, released.size());
  EXPECT_EQ(2, released.front()->id);
  EXPECT_FALSE(table.hold(step(5)));
}

TEST(RequestTable, AllTaken_NothingIsLeft) {
  RequestTable table;
  table.add(step(1, 100));
  table.add(step(2));
  EXPECT_EQ(2u, table.take_all().size());
  EXPECT_EQ(nullptr, table.find(1));
  EXPECT_EQ(nullptr, table.take_expired(1000));
}

}  // namespace
}  // namespace hone
