// Quotas of the server and of one client.
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

class QuotaTest : public ServiceTest {
 protected:
  QuotaTest() : ServiceTest(tight()) {}
  static EpisodeOptions tight() {
    EpisodeOptions options;
    options.limits.episodes = 4;
    options.limits.client_episodes = 2;
    options.limits.client_steps = 1;
    return options;
  }
  void reset_as(const Caller& caller, Answer& answer) {
    service->reset(caller,
                   Value::map({{"task", "add_relu"}, {"options", Value::map({{"max_turns", 1}})}}),
                   answer.take());
  }
};

TEST_F(QuotaTest, OpenEpisodesOfAClient_AreLimited) {
  Answer a, b, c, d, e;
  reset_as(me, a);
  reset_as(me, b);
  reset_as(me, c);
  EXPECT_EQ(c.code(), Code::kResourceExhausted);
  EXPECT_EQ(c.message(), "client 'trainer' has 2 open episodes, at most 2 allowed");
  step(a.body(), 1, "int a;");  // its only turn: the episode ended and counts no more
  reset_as(me, d);
  EXPECT_EQ(d.code(), Code::kOk);
  reset_as({"x", "another"}, e);
  EXPECT_EQ(e.code(), Code::kOk);
}

TEST_F(QuotaTest, EpisodesOfTheServer_AreLimited) {
  for (const char* client : {"a", "a", "b", "b"}) {
    Answer answer;
    reset_as({client, client}, answer);
    EXPECT_EQ(answer.code(), Code::kOk);
  }
  Answer last;
  reset_as({"c", "c"}, last);
  EXPECT_EQ(last.code(), Code::kResourceExhausted);
  EXPECT_EQ(last.message(), "the server holds 4 episodes, at most 4 allowed");
}

TEST_F(QuotaTest, StepsOfAClient_AreLimited) {
  Answer a, b, first, second;
  reset_as(me, a);
  reset_as(me, b);
  evaluator.hold();
  step(first, a.body(), 1, "int a;");
  step(second, b.body(), 1, "int b;");
  EXPECT_EQ(second.code(), Code::kResourceExhausted);
  EXPECT_EQ(second.message(), "client 'trainer' has 1 steps under way, at most 1 allowed");
  evaluator.release();
  EXPECT_EQ(at(step(b.body(), 1, "int b;"), {"turn"}), Value(1));
}

TEST_F(QuotaTest, WaitersOfOneStep_AreLimited) {
  Answer opened;
  reset_as(me, opened);
  evaluator.hold();
  Answer waiting, refused;
  for (int i = 0; i < 64; ++i) step(waiting, opened.body(), 1, "int a;");
  step(refused, opened.body(), 1, "int a;");
  EXPECT_EQ(refused.message(), "turn 1 already has 64 waiting requests");
  evaluator.release();
  EXPECT_EQ(waiting.count, 64);
}

}  // namespace
}  // namespace hone::test
