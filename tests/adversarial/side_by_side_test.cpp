// Submissions against each other: two at the same time on two devices, and one after the other on
// one. What their jails alone hold is in tests/sandbox/neighbours_test.cpp.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "adversarial/attack.hpp"
#include "adversarial/court.hpp"

namespace hone::test {
namespace {

using Answer = std::future<Result<Verdict>>;

Answer submit(Machine& machine, const std::string& source, const std::string& client) {
  Submission submission;
  submission.task = machine.task("add_relu");
  submission.language = "c++";
  submission.source = source;
  submission.client = submission.episode = client;
  submission.seed = 7;
  auto promise = std::make_shared<std::promise<Result<Verdict>>>();
  Answer answer = promise->get_future();
  const auto id = machine.evaluator().submit(
      std::move(submission), [](Stage) {},
      [promise](Result<Verdict> verdict) { promise->set_value(std::move(verdict)); });
  EXPECT_TRUE(id) << id.error().message;
  return answer;
}

TEST(SideBySide, AnAttackerTouchesNoNeighbour) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  auto machine = two_at_a_time();
  ASSERT_TRUE(machine) << machine.error().message;
  const std::string honest = (*machine)->task("add_relu")->backends.at("cpu").baseline.text;
  for (const char* attack : {"kill_others", "watch_others", "trace_itself", "write_the_orders",
                             "find_a_note", "read_passwd"}) {
    // Another source each time, or it would come from the cache and before the attacker.
    Answer theirs = submit(**machine, honest + "// beside " + attack + "\n", "honest");
    Answer hostile = submit(**machine, source_of(attack), "hostile");
    const Result<Verdict> verdict = theirs.get(), caught = hostile.get();
    EXPECT_EQ(difference(verdict, {{Outcome::kCorrect}}), "") << "beside " << attack;
    EXPECT_EQ(difference(caught, {{Outcome::kCrashed}}), "") << attack;
  }
  const Value stats = (*machine)->evaluator().stats();
  const Value& clients = *stats.find("clients");
  // What a busy machine makes of single rounds may be there; nobody else's class is.
  EXPECT_EQ(clients.find("honest")->find("caught")->find("forbidden_call"), nullptr);
  EXPECT_EQ(clients.find("hostile")->find("caught")->find("forbidden_call")->as_int(), 1);
  EXPECT_EQ(clients.find("hostile")->find("judged")->as_int(), 6);
}

TEST(SideBySide, NothingIsLeftForTheNext) {
  Court& court = Court::without({});
  const Attack notes{"find_a_note", "add_relu", {}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(difference(court.judge(notes, seed), {{Outcome::kCrashed}, "was held"}), "");
  }
}

}  // namespace
}  // namespace hone::test
