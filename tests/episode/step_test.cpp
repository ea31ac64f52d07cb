// step: rewards, stops, faults, repeats, joins, conflicts, cancels.
#include <set>

#include "base/log.hpp"
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

using StepTest = ServiceTest;

TEST_F(StepTest, TwoTurns_AreScoredByTheRealReward) {
  script = {outcome(Outcome::kWrong), ScriptedEvaluator::correct(1.5)};
  const Value opened = reset();
  const Value first = step(opened, 1, "int a;");
  EXPECT_DOUBLE_EQ(at(first, {"reward"}).as_double(), 0.1);
  EXPECT_EQ(at(first, {"reward_valid"}), Value(true));
  EXPECT_TRUE(at(first, {"returns"}).is_nil());
  EXPECT_EQ(at(first, {"info", "verdict", "outcome"}), Value("wrong"));
  const Value second = step(opened, 2, "int b;");
  EXPECT_DOUBLE_EQ(at(second, {"reward"}).as_double(), 0.8);
  EXPECT_DOUBLE_EQ(at(second, {"return_to_date"}).as_double(), 0.1 + 0.4 * 0.8);
  EXPECT_DOUBLE_EQ(at(second, {"info", "components", "speedup"}).as_double(), 0.5);
  EXPECT_EQ(at(second, {"observation", "history"}).as_array().size(), 2u);
  EXPECT_DOUBLE_EQ(at(second, {"observation", "best_speedup"}).as_double(), 1.5);
}

TEST_F(StepTest, Log_HasALineForEachTurn) {
  script = {outcome(Outcome::kWrong), ScriptedEvaluator::correct(1.5), unavailable("a fault")};
  set_up_log(LogLevel::kInfo, false);
  testing::internal::CaptureStderr();
  const Value opened = reset(Value::map({{"max_turns", 3}}));
  for (std::int64_t turn = 1; turn <= 3; ++turn) step(opened, turn, "int a;");
  ASSERT_TRUE(close(me, Value::map({{"episode", *opened.find("episode")}})));
  reset();
  now_s = now_s + 1e6;
  EXPECT_EQ(service->reap(), 1u);
  const std::string said = testing::internal::GetCapturedStderr();
  set_up_log(LogLevel::kWarning, false);
  const std::string episode = "episode " + opened.find("episode")->as_string() + ": ";
  for (const std::string& line :
       {episode + "opened by 'trainer': tasks/add_relu\n", episode + "turn 1: wrong, reward 0.1\n",
        episode + "turn 2: correct, speedup 1.5, reward 0.8\n",
        episode + "turn 3: not scored; ended\n", episode + "closed\n",
        std::string("episodes: 1 released: their leases ran out\n")}) {
    EXPECT_NE(said.find(line), std::string::npos) << line << "in:\n" << said;
  }
}

TEST_F(StepTest, TurnsUsedUp_Truncates) {
  const Value opened = reset(Value::map({{"max_turns", 2}}));
  EXPECT_EQ(at(step(opened, 1, "int a;"), {"truncated"}), Value(false));
  const Value last = step(opened, 2, "int b;");
  EXPECT_EQ(at(last, {"truncated"}), Value(true));
  EXPECT_EQ(at(last, {"terminated"}), Value(false));
  EXPECT_EQ(at(last, {"info", "stop_reason"}), Value("turns used up"));
  EXPECT_EQ(at(last, {"returns"}).as_array().size(), 2u);
  EXPECT_EQ(at(last, {"observation", "turns_left"}), Value(0));
  Answer after;
  step(after, opened, 3, "int c;");
  EXPECT_EQ(after.message(), "the episode ended after turn 2 (turns used up)");
  EXPECT_EQ(after.code(), Code::kFailedPrecondition);
}

TEST_F(StepTest, FastEnough_Terminates) {
  script = {ScriptedEvaluator::correct(1.2), ScriptedEvaluator::correct(1.3)};
  const Value opened = reset(Value::map({{"stop_speedup", 1.3}}));
  EXPECT_EQ(at(step(opened, 1, "int a;"), {"terminated"}), Value(false));
  const Value last = step(opened, 2, "int b;");
  EXPECT_EQ(at(last, {"terminated"}), Value(true));
  EXPECT_EQ(at(last, {"info", "stop_reason"}), Value("correct and fast enough"));
}

TEST_F(StepTest, RewardReached_Terminates) {
  script = {outcome(Outcome::kWrong), ScriptedEvaluator::correct(1.5)};
  const Value opened = reset(Value::map({{"stop_reward", 0.5}, {"reward", "kevin"}}));
  step(opened, 1, "int a;");
  const Value last = step(opened, 2, "int b;");
  EXPECT_EQ(at(last, {"terminated"}), Value(true));
  EXPECT_EQ(at(last, {"info", "stop_reason"}), Value("reward reached"));
  EXPECT_EQ(at(last, {"returns"}).as_array().size(), 2u);
}

TEST_F(StepTest, SecondsUsedUp_TruncatesAfterTheCurrentTurn) {
  const Value opened = reset(Value::map({{"seconds_max", 60.0}}));
  now_s = now_s + 59;
  const Value first = step(opened, 1, "int a;");
  EXPECT_EQ(at(first, {"truncated"}), Value(false));
  EXPECT_DOUBLE_EQ(at(first, {"observation", "seconds_left"}).as_double(), 1);
  now_s = now_s + 2;
  const Value last = step(opened, 2, "int b;");
  EXPECT_EQ(at(last, {"info", "stop_reason"}), Value("seconds used up"));
  EXPECT_DOUBLE_EQ(at(last, {"observation", "seconds_left"}).as_double(), 0);
}

TEST_F(StepTest, Fault_IsUnscoredAndNotZero) {
  script = {ScriptedEvaluator::correct(1.5), unavailable("the judge died"),
            ScriptedEvaluator::correct(2)};
  const Value opened = reset();
  step(opened, 1, "int a;");
  const Value fault = step(opened, 2, "int b;");
  EXPECT_TRUE(at(fault, {"reward"}).is_nil());
  EXPECT_EQ(at(fault, {"reward_valid"}), Value(false));
  EXPECT_TRUE(at(fault, {"info", "verdict"}).is_nil());
  EXPECT_EQ(at(fault, {"info", "fault"}), Value("the judge died"));
  EXPECT_DOUBLE_EQ(at(fault, {"return_to_date"}).as_double(), 0.8);
  const Value third = step(opened, 3, "int c;");
  EXPECT_DOUBLE_EQ(at(third, {"return_to_date"}).as_double(), 0.8 + 0.4 * 1.3);
  EXPECT_EQ(at(at(third, {"observation", "history"}).as_array()[1], {"outcome"}),
            Value("unscored"));
}

TEST_F(StepTest, VerdictOfAnotherMachine_IsUnscored) {
  Verdict other = ScriptedEvaluator::correct(9);
  other.fingerprint = "another machine";
  script = {ScriptedEvaluator::correct(1.5), other};
  const Value opened = reset();
  step(opened, 1, "int a;");
  const Value second = step(opened, 2, "int b;");
  EXPECT_EQ(at(second, {"reward_valid"}), Value(false));
  EXPECT_EQ(at(second, {"info", "fault"}),
            Value("the measuring hardware changed within the episode; it is now another machine"));
}

TEST_F(StepTest, DeadlineAndCancellation_LeaveTheTurnOpen) {
  script = {Error{Code::kDeadlineExceeded, "too late"}, Error{Code::kCancelled, "stopped"}};
  const Value opened = reset();
  for (const Code expected : {Code::kDeadlineExceeded, Code::kCancelled}) {
    Answer answer;
    step(answer, opened, 1, "int a;");
    EXPECT_EQ(answer.code(), expected);
  }
  EXPECT_EQ(at(step(opened, 1, "int b;"), {"turn"}), Value(1));
}

TEST_F(StepTest, Seeds_AreSecretAndNewForEveryTry) {
  script = {Error{Code::kCancelled, "stopped"}};
  const Value opened = reset(Value::map(), "add_relu");
  Answer cancelled, done;
  step(cancelled, opened, 1, "int a;");
  step(done, opened, 1, "int a;");
  step(opened, 2, "int a;");
  std::set<std::uint64_t> seeds;
  for (const Submission& submission : submissions) seeds.insert(submission.seed);
  EXPECT_EQ(seeds.size(), 3u);
  EXPECT_EQ(done.bytes->find("seed"), std::string::npos);
}

TEST_F(StepTest, Submission_HasGroupClientAndEpisode) {
  Answer opened;
  service->reset(me, Value::map({{"task", "add_relu"}, {"group", "g7"}}), opened.take());
  step(opened.body(), 1, "int a;");
  ASSERT_EQ(submissions.size(), 1u);
  EXPECT_EQ(submissions[0].group, "g7");
  EXPECT_EQ(submissions[0].client, "trainer");
  EXPECT_EQ(submissions[0].episode, at(opened.body(), {"episode"}).as_string());
  EXPECT_EQ(submissions[0].language, "c++");
}

TEST_F(StepTest, RepeatOfAnyDoneTurn_GetsTheStoredBytes) {
  const Value opened = reset();
  Answer first, second, again1, again2;
  step(first, opened, 1, "int a;");
  now_s = now_s + 5;
  step(second, opened, 2, "int b;");
  now_s = now_s + 5;
  step(again1, opened, 1, "int a;");
  step(again2, opened, 2, "int b;");
  EXPECT_EQ(*again1.bytes, *first.bytes);
  EXPECT_EQ(*again2.bytes, *second.bytes);
  EXPECT_EQ(submissions.size(), 2u);
}

TEST_F(StepTest, ConflictsAndGaps_NameTheTurn) {
  const Value opened = reset();
  step(opened, 1, "int a;");
  const std::vector<std::tuple<std::int64_t, std::string, std::string>> cases = {
      {1, "int other;", "turn 1 is done, with another action"},
      {4, "int a;", "found turn 4, expected 2"},
      {0, "int a;", "found turn 0, expected 2"}};
  for (const auto& [turn, code, message] : cases) {
    Answer answer;
    step(answer, opened, turn, code);
    EXPECT_EQ(answer.message(), message);
    EXPECT_EQ(answer.code(), Code::kFailedPrecondition);
  }
}

TEST_F(StepTest, SameStepInFlight_IsJoinedAndAnotherIsRefused) {
  const Value opened = reset();
  evaluator.hold();
  Answer first, joined, other, next;
  step(first, opened, 1, "int a;");
  step(joined, opened, 1, "int a;");
  step(other, opened, 1, "int b;");
  step(next, opened, 2, "int c;");
  EXPECT_EQ(first.count + joined.count, 0);
  EXPECT_EQ(other.message(), "turn 1 is under way with another action");
  EXPECT_EQ(next.message(), "found turn 2 while turn 1 is under way");
  EXPECT_EQ(service->pending(), 1u);
  EXPECT_EQ(evaluator.release(), 1u);
  EXPECT_EQ(*first.bytes, *joined.bytes);
  EXPECT_EQ(submissions.size(), 1u);
  EXPECT_EQ(service->pending(), 0u);
}

TEST_F(StepTest, JoinAfterResume_GetsTheReply) {
  const Value opened = reset();
  evaluator.hold();
  Answer lost, joined;
  step(lost, opened, 1, "int a;");
  const Caller other{"connection-2", "trainer"};
  const Value resumed = *service->resume(
      other, Value::map({{"episode", at(opened, {"episode"})}, {"token", at(opened, {"token"})}}));
  EXPECT_EQ(at(resumed, {"pending"}), Value(true));
  service->step(other, step_body(opened, 1, "int a;"), 0, {}, joined.take());
  evaluator.release();
  EXPECT_EQ(at(joined.body(), {"turn"}), Value(1));
}

TEST_F(StepTest, Cancel_AnswersTheStepAndLeavesTheTurnOpen) {
  const Value opened = reset();
  evaluator.hold();
  Answer answer, joined;
  step(answer, opened, 1, "int a;");
  step(joined, opened, 1, "int a;");
  Value body = Value::map({{"episode", at(opened, {"episode"})}, {"turn", 2}});
  EXPECT_EQ(at(*service->cancel(me, body), {"cancelled"}), Value(false));
  body.set("turn", 1);
  // A client's name is its own word: on the main endpoint it does not make an episode its own.
  EXPECT_EQ(service->cancel({"connection-2", "trainer"}, body).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(at(*service->cancel({"control-1", "trainer", true}, body), {"cancelled"}), Value(true));
  EXPECT_EQ(answer.code(), Code::kCancelled);
  EXPECT_EQ(joined.message(),
            "the step was cancelled; unless the episode was closed, its turn stays open");
  EXPECT_EQ(at(*service->cancel(me, body), {"cancelled"}), Value(false));
  evaluator.release();
  EXPECT_EQ(at(step(opened, 1, "int b;"), {"turn"}), Value(1));
}

TEST_F(StepTest, CancelDuringTheEvaluation_IsRefusedAfterEightOfAnEpisode) {
  const Value opened = reset();
  const Value body = Value::map({{"episode", at(opened, {"episode"})}, {"turn", 1}});
  evaluator.hold();
  for (int i = 0; i < 20; ++i) {  // one that waits in the queue costs nothing
    Answer answer;
    step(answer, opened, 1, "int a;");
    EXPECT_EQ(at(*service->cancel(me, body), {"cancelled"}), Value(true));
  }
  for (int i = 0; i < 8; ++i) {
    Answer answer;
    step(answer, opened, 1, "int a;");
    evaluator.begin_held();
    EXPECT_EQ(at(*service->cancel(me, body), {"cancelled"}), Value(true));
    EXPECT_EQ(answer.code(), Code::kCancelled);
  }
  Answer last;
  step(last, opened, 1, "int a;");
  evaluator.begin_held();
  EXPECT_EQ(at(*service->cancel(me, body), {"cancelled"}), Value(false));
  EXPECT_EQ(service->leave({me.connection}), 0u) << "a lost connection does not end it either";
  evaluator.release();
  EXPECT_EQ(at(last.body(), {"turn"}), Value(1));
  EXPECT_EQ(at(service->stats(), {"steps", "ended_early"}), Value(8));
}

TEST_F(StepTest, Close_EndsAStepInFlight) {
  const Value opened = reset();
  evaluator.hold();
  Answer answer;
  step(answer, opened, 1, "int a;");
  EXPECT_TRUE(close(me, Value::map({{"episode", at(opened, {"episode"})}})).ok());
  EXPECT_EQ(answer.code(), Code::kCancelled);
  EXPECT_EQ(service->pending(), 0u);
}

TEST_F(StepTest, Evaluation_OutlivesTheService) {
  const Value opened = reset();
  evaluator.hold();
  Answer answer;
  step(answer, opened, 1, "int a;");
  service.reset();
  evaluator.release();
  EXPECT_EQ(at(answer.body(), {"turn"}), Value(1));
}

TEST_F(StepTest, Progress_ReachesAllWaiters) {
  const Value opened = reset();
  std::vector<Value> stages;
  Answer answer;
  service->step(
      me, step_body(opened, 1, "int a;"), 0, [&](Value body) { stages.push_back(std::move(body)); },
      answer.take());
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0], Value::map({{"stage", "queued"}}));
}

TEST_F(StepTest, MalformedActions_LeaveTheTurnOpen) {
  const Value opened = reset();
  const std::vector<std::pair<Value, std::string>> cases = {
      {Value::map(), "step: action: expected either 'code' or 'response', found neither"},
      {Value::map({{"code", "a"}, {"response", "b"}}),
       "step: action: expected either 'code' or 'response', found both"},
      {Value::map({{"code", nullptr}}),  // once took the host down
       "step: action: expected either 'code' or 'response', found neither"},
      {Value::map({{"code", nullptr}, {"response", nullptr}}),
       "step: action: expected either 'code' or 'response', found neither"},
      {Value::map({{"code", 3}}), "step: action: code: expected text, found int"},
      {Value::map({{"cod", "x"}}), "step: action: unknown key 'cod'; did you mean 'code'?"},
      {Value(), "step: action: expected a map, found nil"},  // once took the host down
      {Value("x"), "step: action: expected a map, found string"}};
  for (const auto& [action, message] : cases) {
    Answer answer;
    service->step(
        me, Value::map({{"episode", at(opened, {"episode"})}, {"turn", 1}, {"action", action}}), 0,
        {}, answer.take());
    EXPECT_EQ(answer.message(), message);
    EXPECT_EQ(answer.code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(at(step(opened, 1, "int a;"), {"turn"}), Value(1));
}

TEST_F(StepTest, UnknownEpisode_IsNotFound) {
  for (const char* name : {"", "zz", "0123456789abcdef", "0123456789ABCDEF0", "-123456789abcdef"}) {
    Answer answer;
    service->step(me, step_body(Value::map({{"episode", name}}), 1, "x"), 0, {}, answer.take());
    EXPECT_EQ(answer.code(), Code::kNotFound) << name;
  }
}

TEST_F(StepTest, SameVerdicts_GiveTheSameReplies) {
  const auto play = [&] {
    script = {outcome(Outcome::kBuildFailed), unavailable("a fault"),
              ScriptedEvaluator::correct(1.5), outcome(Outcome::kCrashed)};
    now_s = 1000;
    const Value opened = reset();
    std::vector<Value> replies;
    for (int turn = 1; turn <= 4; ++turn) {
      now_s = now_s + 1;
      Value reply = step(opened, turn, "int a" + std::to_string(turn) + ";");
      reply.set("episode", "-");
      replies.push_back(std::move(reply));
    }
    return replies;
  };
  EXPECT_EQ(play(), play());
}

TEST_F(StepTest, StepsOfAConnectionThatIsGone_AreCancelledAndTheirTurnsStayOpen) {
  const Value opened = reset(), resumed = reset();
  evaluator.hold();
  Answer lost, taken_over;
  step(lost, opened, 1, "int a;");
  step(taken_over, resumed, 1, "int b;");
  const Caller other{"connection-2", "trainer"};
  const Value claim =
      Value::map({{"episode", at(resumed, {"episode"})}, {"token", at(resumed, {"token"})}});
  ASSERT_TRUE(service->resume(other, claim));
  EXPECT_EQ(service->leave({"connection-0"}), 0u);
  EXPECT_EQ(service->leave({me.connection}), 1u) << "the other was resumed elsewhere";
  EXPECT_EQ(lost.code(), Code::kCancelled);
  EXPECT_EQ(service->leave({me.connection}), 0u);
  EXPECT_EQ(evaluator.release(), 1u);
  EXPECT_EQ(at(taken_over.body(), {"turn"}), Value(1));
  EXPECT_EQ(at(step(opened, 1, "int a;"), {"turn"}), Value(1));
}

TEST_F(StepTest, StepsThatEndWithTheServer_LeaveTheirTurnsOpen) {
  Verdict told_to_end = outcome(Outcome::kCrashed);
  told_to_end.signal = "SIGTERM";
  const Value faulty = reset(), ended = reset(), done = reset();
  evaluator.hold();
  Answer fault, signal, verdict;
  step(fault, faulty, 1, "int a;");
  step(signal, ended, 1, "int b;");
  step(verdict, done, 1, "int c;");
  script = {unavailable("the launcher process has ended"), told_to_end, outcome(Outcome::kCrashed)};
  service->refuse_new_work();
  EXPECT_EQ(evaluator.release(), 3u);
  EXPECT_EQ(fault.code(), Code::kUnavailable);
  EXPECT_EQ(signal.code(), Code::kUnavailable);
  EXPECT_EQ(at(verdict.body(), {"turn"}), Value(1));
  const auto resumed = service->resume(
      me, Value::map({{"episode", at(ended, {"episode"})}, {"token", at(ended, {"token"})}}));
  ASSERT_TRUE(resumed);
  EXPECT_EQ(at(*resumed, {"turn"}), Value(0));
}

TEST_F(StepTest, ServiceInShutdown_AnswersRepeats) {
  const Value opened = reset();
  step(opened, 1, "int a;");
  service->refuse_new_work();
  EXPECT_EQ(at(step(opened, 1, "int a;"), {"turn"}), Value(1));
  Answer stepped, opening;
  step(stepped, opened, 2, "int b;");
  service->reset(me, Value::map({{"task", "add_relu"}}), opening.take());
  for (const Answer* answer : {&stepped, &opening}) {
    EXPECT_EQ(answer->code(), Code::kUnavailable);
    EXPECT_EQ(answer->message(), "the server is shutting down");
  }
}

}  // namespace
}  // namespace hone::test
