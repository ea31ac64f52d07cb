// Leases: renewal, expiry, and episodes that are spared. The test controls the clock.
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

class LeaseTest : public ServiceTest {
 protected:
  LeaseTest() : ServiceTest(short_leases()) {}
  static EpisodeOptions short_leases() {
    EpisodeOptions options;
    options.limits.lease_s = 100;
    options.limits.ended_lease_s = 10;
    return options;
  }
  Code state_of(const Value& opened) {
    Answer answer;
    step(answer, opened, 99, "x");
    return answer.code();
  }
  std::int64_t open_now() { return at(service->stats(), {"episodes", "open"}).as_int(); }
};

TEST_F(LeaseTest, Orphan_IsReaped) {
  const Value opened = reset();
  now_s = now_s + 99;
  EXPECT_EQ(service->reap(), 0u);
  now_s = now_s + 2;
  EXPECT_EQ(service->reap(), 1u);
  EXPECT_EQ(state_of(opened), Code::kNotFound);
  EXPECT_EQ(open_now(), 0);
  EXPECT_EQ(at(service->stats(), {"episodes", "reaped"}), Value(1));
  EXPECT_EQ(at(service->stats(), {"episodes", "history_bytes"}), Value(0));
  EXPECT_EQ(at(service->stats(), {"episodes", "clients"}), Value(0));
}

TEST_F(LeaseTest, AnyRequestAboutIt_RenewsIt) {
  const Value opened = reset();
  const std::string name = at(opened, {"episode"}).as_string();
  now_s = now_s + 90;
  service->renew(me, {name, "none"});
  now_s = now_s + 90;
  EXPECT_EQ(service->reap(), 0u);
  EXPECT_EQ(state_of(opened), Code::kFailedPrecondition);  // a refused step is a message too
  now_s = now_s + 90;
  EXPECT_EQ(service->reap(), 0u);
  service->renew({"connection-9", "trainer"}, {name});  // not its owner: renews nothing
  now_s = now_s + 5;
  service->renew({"control-1", "x", true}, {name});
  now_s = now_s + 90;
  EXPECT_EQ(service->reap(), 0u);
  now_s = now_s + 20;
  EXPECT_EQ(service->reap(), 1u);
}

TEST_F(LeaseTest, StepUnderWay_KeepsItsEpisode) {
  const Value opened = reset();
  evaluator.hold();
  Answer answer;
  step(answer, opened, 1, "int a;");
  now_s = now_s + 1000;
  EXPECT_EQ(service->reap(), 0u);
  evaluator.release();
  EXPECT_EQ(at(answer.body(), {"turn"}), Value(1));
  now_s = now_s + 101;
  EXPECT_EQ(service->reap(), 1u);
}

TEST_F(LeaseTest, EndedEpisode_StaysOnlyForRepeats) {
  const Value opened = reset(Value::map({{"max_turns", 1}}));
  step(opened, 1, "int a;");
  EXPECT_EQ(open_now(), 0);
  EXPECT_EQ(at(service->stats(), {"episodes", "ended"}), Value(1));
  now_s = now_s + 9;
  EXPECT_EQ(service->reap(), 0u);
  step(opened, 1, "int a;");
  now_s = now_s + 11;
  EXPECT_EQ(service->reap(), 1u);
}

TEST_F(LeaseTest, ReapedKey_MayBeUsedAgain) {
  const Value body = Value::map({{"task", "add_relu"}, {"key", "k"}});
  Answer first, second;
  service->reset(me, body, first.take());
  now_s = now_s + 101;
  EXPECT_EQ(service->reap(), 1u);
  service->reset(me, body, second.take());
  EXPECT_NE(at(first.body(), {"episode"}), at(second.body(), {"episode"}));
}

}  // namespace
}  // namespace hone::test
