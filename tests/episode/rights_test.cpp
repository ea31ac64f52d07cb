// Rights of a client: its own episodes, its quotas, and held-out tasks.
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

constexpr const char* kUnknown =
    "no such episode: it was closed, its lease ran out, it never existed, or the token is wrong";

class RightsTest : public ServiceTest {
 protected:
  static Caller proven(const std::string& name, const std::string& connection = "c") {
    Caller caller{name + connection, name};
    caller.proven = true;
    return caller;
  }
  Value opened_by(const Caller& caller, Value options = Value::map()) {
    Answer answer;
    service->reset(caller, Value::map({{"task", "add_relu"}, {"options", std::move(options)}}),
                   answer.take());
    return answer.body();
  }
  static Value step_of(const Value& opened, std::int64_t turn = 1) {
    return Value::map({{"episode", *opened.find("episode")},
                       {"turn", turn},
                       {"action", Value::map({{"code", "int a;"}})}});
  }
  static Value named(const Value& opened) {
    return Value::map({{"episode", *opened.find("episode")}});
  }
  static Value with_token(const Value& opened) {
    return named(opened).set("token", *opened.find("token"));
  }
};

TEST_F(RightsTest, OtherClientsEpisode_IsNotFoundEvenWithItsToken) {
  const Caller owner = proven("a"), thief = proven("b");
  const Value opened = opened_by(owner);
  EXPECT_EQ(service->resume(thief, with_token(opened)).error().message, kUnknown);
  EXPECT_EQ(close(thief, named(opened)).error().message, kUnknown);
  Answer answer;
  service->step(thief, step_of(opened), 0, {}, answer.take());
  EXPECT_EQ(answer.message(), kUnknown);
  Caller control = proven("b", "control");
  control.control = true;
  EXPECT_EQ(service->cancel(control, named(opened).set("turn", 1)).error().message, kUnknown);
  EXPECT_TRUE(service->resume(proven("a", "another"), with_token(opened)).ok());
}

TEST_F(RightsTest, SameConnectionName_DoesNotShareEpisodes) {
  const Value opened = opened_by(proven("a"));
  Caller thief = proven("a");
  thief.client = "b";  // as if a connection's name were given out again
  Answer answer;
  service->step(thief, step_of(opened), 0, {}, answer.take());
  EXPECT_EQ(answer.message(), kUnknown);
}

TEST_F(RightsTest, AnotherClientsPing_RenewsNothing) {
  const Value opened = opened_by(proven("a"));
  Caller other = proven("b");
  other.control = true;
  now_s = now_s + 899;
  service->renew(other, {opened.find("episode")->as_string()});
  now_s = now_s + 2;
  EXPECT_EQ(service->reap(), 1u);
}

TEST_F(RightsTest, UnprovenName_MayResumeWithTheToken) {
  const Value opened = opened_by({"c1", "a"});
  EXPECT_TRUE(service->resume({"c2", "b"}, with_token(opened)).ok());
}

TEST_F(RightsTest, QuotasOfAClient_CountInsteadOfTheDefaults) {
  Caller caller = proven("a");
  caller.quotas = {2, 1, 1u << 20};
  const Value first = opened_by(caller), second = opened_by(caller);
  Answer refused;
  service->reset(caller, Value::map({{"task", "add_relu"}}), refused.take());
  EXPECT_EQ(refused.message(), "client 'a' has 2 open episodes, at most 2 allowed");
  evaluator.hold();
  Answer under_way, too_many;
  service->step(caller, step_of(first), 0, {}, under_way.take());
  service->step(caller, step_of(second), 0, {}, too_many.take());
  EXPECT_EQ(too_many.message(), "client 'a' has 1 steps under way, at most 1 allowed");
  EXPECT_EQ(too_many.code(), Code::kResourceExhausted);
  evaluator.release();
  EXPECT_EQ(under_way.code(), Code::kOk);
}

TEST_F(RightsTest, StoredBytes_AreFreedByClosing) {
  Caller caller = proven("a");
  caller.quotas.bytes = 1;
  const Value opened = opened_by(caller);
  Answer first, second;
  service->step(caller, step_of(opened), 0, {}, first.take());
  ASSERT_EQ(first.code(), Code::kOk);
  service->step(caller, step_of(opened, 2), 0, {}, second.take());
  EXPECT_EQ(second.message(), "client 'a' has " + std::to_string(first.bytes->size()) +
                                  " bytes of stored turns, at most 1 allowed; close episodes");
  Answer repeat;
  service->step(caller, step_of(opened), 0, {}, repeat.take());
  EXPECT_EQ(repeat.code(), Code::kOk);  // what is kept is still given
  EXPECT_TRUE(close(caller, named(opened)).ok());
  EXPECT_TRUE(opened_by(caller).find("episode"));
}

TEST_F(RightsTest, HeldOutTasks_NeedTheRight) {
  Caller trainer = proven("trainer"), examiner = proven("examiner");
  examiner.held_out = true;
  const Value ask = Value::map({{"task", "secret"}});
  Answer refused, missing, allowed;
  service->reset(trainer, ask, refused.take());
  EXPECT_EQ(refused.message(), "no task is called 'secret'; describe lists them");
  service->reset(trainer, Value::map({{"task", "sekrets"}}), missing.take());
  EXPECT_EQ(missing.message(), "no task is called 'sekrets'; describe lists them");
  EXPECT_FALSE(service->describe(trainer, ask).ok());
  EXPECT_EQ(service->describe(trainer, Value::map())->find("tasks")->as_array().size(), 1u);
  service->reset(examiner, ask, allowed.take());
  EXPECT_EQ(at(allowed.body(), {"info", "task"}), Value("tasks/secret"));
  EXPECT_TRUE(service->describe(examiner, ask).ok());
  EXPECT_EQ(service->describe(examiner, Value::map())->find("tasks")->as_array().size(), 2u);
  Answer drawn;
  service->reset(examiner, Value::map({{"split", "held_out"}}), drawn.take());
  EXPECT_EQ(at(drawn.body(), {"info", "task"}), Value("tasks/secret"));
}

}  // namespace
}  // namespace hone::test
