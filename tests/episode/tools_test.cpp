// Tool calls of an episode: order, budgets, repeats, faults, the journal, branches and rewards.
#include "episode/journalled_fixture.hpp"
#include "episode/trajectory.hpp"

namespace hone::test {
namespace {

class ToolsTest : public JournalledTest {
 protected:
  Value opened_with_tools(std::int64_t checks = 2) {
    return reset_with(Value::map(
        {{"task", "add_relu"},
         {"options", Value::map({{"max_turns", 3},
                                 {"tools", Value::map({{"check", checks}, {"compile", 1}})}})}}));
  }
  static Value call_body(const Value& episode, std::int64_t turn, std::int64_t call,
                         const std::string& tool, const std::string& code = "int a;") {
    return Value::map({{"episode", *episode.find("episode")},
                       {"turn", turn},
                       {"call", call},
                       {"action", Value::map({{"tool", tool}, {"code", code}})}});
  }
  void call(Answer& answer, const Value& episode, std::int64_t turn, std::int64_t number,
            const std::string& tool, const std::string& code = "int a;") {
    service->step(me, call_body(episode, turn, number, tool, code), 0, {}, answer.take());
    settle();
  }
  Value called(const Value& episode, std::int64_t turn, std::int64_t number,
               const std::string& tool, const std::string& code = "int a;") {
    Answer answer;
    call(answer, episode, turn, number, tool, code);
    EXPECT_EQ(answer.count, 1);
    return answer.body();
  }
  Error refused(const Value& episode, std::int64_t turn, std::int64_t number,
                const std::string& tool, const std::string& code = "int a;") {
    Answer answer;
    call(answer, episode, turn, number, tool, code);
    EXPECT_FALSE(answer.bytes) << "it succeeded";
    return answer.bytes ? Error{} : answer.bytes.error();
  }
};

TEST_F(ToolsTest, Call_LeavesTheTurnOpenAndCountsDown) {
  const Value episode = opened_with_tools();
  EXPECT_EQ(at(episode, {"observation", "tools"}).as_array().size(), 2u);
  EXPECT_EQ(at(episode, {"observation", "tools_left", "check"}), Value(2));
  const Value first = called(episode, 1, 1, "check");
  EXPECT_EQ(at(first, {"tool"}), Value("check"));
  EXPECT_EQ(at(first, {"call"}), Value(1));
  EXPECT_EQ(at(first, {"info", "verdict", "outcome"}), Value("correct"));
  EXPECT_EQ(at(first, {"observation", "tools_left", "check"}), Value(1));
  EXPECT_EQ(at(first, {"observation", "turn"}), Value(0));
  EXPECT_EQ(at(first, {"observation", "turns_left"}), Value(3));
  const auto& messages = at(first, {"observation", "messages"}).as_array();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(at(messages[0], {"role"}), Value("assistant"));
  const Value& function = at(messages[0], {"tool_calls"}).as_array()[0];
  EXPECT_EQ(at(function, {"id"}), Value("call_1_1"));
  EXPECT_EQ(at(function, {"function", "arguments"}), Value("{\"code\":\"int a;\"}"));
  EXPECT_EQ(at(messages[1], {"tool_call_id"}), Value("call_1_1"));
  const Value turn = stepped(episode, 1, "int b;");
  EXPECT_EQ(at(turn, {"turn"}), Value(1));
  EXPECT_EQ(at(turn, {"observation", "tools_left", "check"}), Value(1));
}

TEST_F(ToolsTest, SpentOrMissingTool_IsRefusedAndCostsNothing) {
  const Value episode = opened_with_tools(1);
  called(episode, 1, 1, "check");
  EXPECT_EQ(refused(episode, 1, 2, "check").message,
            "tool check: its 1 use is spent in this episode");
  EXPECT_NE(refused(episode, 1, 2, "profile").message.find("this episode does not have it"),
            std::string::npos);
  EXPECT_EQ(refused(episode, 1, 2, "chek").code, Code::kInvalidArgument);
  EXPECT_EQ(refused(episode, 1, 2, "compile", "").message, "step: action: the code is empty");
  EXPECT_EQ(refused(episode, 1, 2, "hardware").code, Code::kInvalidArgument) << "it takes no code";
  called(episode, 1, 2, "compile");
  stepped(episode, 1, "int b;");
  EXPECT_EQ(refused(episode, 2, 1, "check").code, Code::kFailedPrecondition)
      << "the budget is the episode's";
  EXPECT_EQ(recorded(episode).calls.size(), 2u);
}

TEST_F(ToolsTest, ToolWithTurnCost_Call_ReducesTurnsLeft) {
  const Value tools = Value::map({{"check", 9}, {"compile", 1}});
  const Value episode = reset_with(Value::map(
      {{"task", "add_relu"},
       {"options",
        Value::map(
            {{"max_turns", 4}, {"tools", tools}, {"tool_turns", Value::map({{"check", 1}})}})}}));
  EXPECT_EQ(at(episode, {"observation", "turns_left"}), Value(4));
  EXPECT_EQ(at(episode, {"observation", "tools_left", "check"}), Value(3)) << "one turn is kept";
  const std::string said =
      at(at(episode, {"observation", "tools"}).as_array()[0], {"description"}).as_string();
  EXPECT_TRUE(said.ends_with(" A use costs 1 turn.")) << said;
  EXPECT_EQ(at(called(episode, 1, 1, "compile"), {"observation", "turns_left"}), Value(4));
  const Value first = called(episode, 1, 2, "check");
  EXPECT_EQ(at(first, {"observation", "turns_left"}), Value(3));
  const std::string text = at(first, {"observation", "feedback"}).as_string();
  EXPECT_TRUE(text.ends_with("\n3 turns are left.\nThis call cost 1 turn.")) << text;
  EXPECT_EQ(at(first, {"observation", "tools_left", "check"}), Value(2));
  EXPECT_EQ(at(stepped(episode, 1, "int a;"), {"observation", "turns_left"}), Value(2));
  const Value last = called(episode, 2, 1, "check");
  EXPECT_EQ(at(last, {"observation", "turns_left"}), Value(1));
  EXPECT_EQ(at(last, {"observation", "tools_left", "check"}), Value(0));
  EXPECT_EQ(refused(episode, 2, 2, "check").message,
            "tool check: a use costs 1 turn; the episode has 1 left, and the last one is for a "
            "submission");
  restart();
  ASSERT_TRUE(resumed(episode, me));
  const Value turn = stepped(episode, 2, "int b;");
  EXPECT_EQ(at(turn, {"truncated"}), Value(true)) << "two turns and two calls of four";
  EXPECT_EQ(at(turn, {"observation", "turns_left"}), Value(0));
}

TEST_F(ToolsTest, CancelledCall_CostsAUseAndNoTurns) {
  const Value episode = reset_with(
      Value::map({{"task", "add_relu"},
                  {"options", Value::map({{"max_turns", 3},
                                          {"tools", Value::map({{"check", 2}})},
                                          {"tool_turns", Value::map({{"check", 2}})}})}}));
  EXPECT_EQ(at(episode, {"observation", "tools_left", "check"}), Value(1));
  evaluator.hold();
  Answer cancelled;
  call(cancelled, episode, 1, 1, "check");
  evaluator.begin_held();
  ASSERT_TRUE(
      service->cancel(me, Value::map({{"episode", *episode.find("episode")}, {"turn", 1}})));
  settle();
  EXPECT_EQ(cancelled.code(), Code::kCancelled);
  evaluator.release();
  const Value turn = stepped(episode, 1, "int a;");
  EXPECT_EQ(at(turn, {"truncated"}), Value(false));
  EXPECT_EQ(at(turn, {"observation", "turns_left"}), Value(2));
  EXPECT_EQ(at(turn, {"observation", "tools_left", "check"}), Value(0))
      << "it would take both turns";
}

TEST_F(ToolsTest, WithoutTheOption_AnEpisodeHasNoTools) {
  const Value episode = opened();
  EXPECT_EQ(at(episode, {"observation"}).find("tools"), nullptr);
  EXPECT_EQ(refused(episode, 1, 1, "check").code, Code::kFailedPrecondition);
}

TEST_F(ToolsTest, ActionWithAToolAndWithoutACall_IsRefused) {
  const Value episode = opened_with_tools();
  Answer answer;
  service->step(me,
                Value::map({{"episode", *episode.find("episode")},
                            {"turn", 1},
                            {"action", Value::map({{"tool", "check"}, {"code", "int a;"}})}}),
                0, {}, answer.take());
  settle();
  EXPECT_EQ(answer.code(), Code::kInvalidArgument);
  EXPECT_NE(answer.message().find("without 'call'"), std::string::npos) << answer.message();
  EXPECT_EQ(at(stepped(episode, 1, "int a;"), {"turn"}), Value(1));
}

TEST_F(ToolsTest, RepeatedCall_HasTheSameReplyAndIsEvaluatedOnce) {
  const Value episode = opened_with_tools();
  const Value first = called(episode, 1, 1, "check");
  EXPECT_EQ(called(episode, 1, 1, "check"), first);
  EXPECT_EQ(submissions.size(), 1u);
  EXPECT_EQ(refused(episode, 1, 1, "check", "int other;").message,
            "call 1 of turn 1 is done, with another action");
  EXPECT_EQ(refused(episode, 1, 3, "check").message, "found call 3 of turn 1, expected call 2");
  EXPECT_EQ(refused(episode, 2, 1, "check").message, "found turn 2, expected 1");
  stepped(episode, 1, "int b;");
  EXPECT_EQ(called(episode, 1, 1, "check"), first) << "also after its turn";
}

TEST_F(ToolsTest, CallInFlight_IsJoinedAndHoldsTheTurn) {
  const Value episode = opened_with_tools();
  evaluator.hold();
  Answer first, second, other, turn;
  call(first, episode, 1, 1, "check");
  call(second, episode, 1, 1, "check");
  call(other, episode, 1, 1, "check", "int other;");
  EXPECT_EQ(other.message(), "call 1 of turn 1 is under way with another action");
  step(turn, episode, 1, "int b;");
  EXPECT_EQ(turn.message(), "found turn 1 while call 1 of turn 1 is under way");
  evaluator.release();
  settle();
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(first.body(), second.body());
}

TEST_F(ToolsTest, FaultOrCancel_LeavesTheCallUndone) {
  const Value episode = opened_with_tools(1);
  script = {unavailable("the judge ended")};
  EXPECT_EQ(refused(episode, 1, 1, "check").message, "the judge ended");
  evaluator.hold();
  Answer cancelled;
  call(cancelled, episode, 1, 1, "check");
  ASSERT_TRUE(
      service->cancel(me, Value::map({{"episode", *episode.find("episode")}, {"turn", 1}})));
  evaluator.release();
  settle();
  EXPECT_EQ(cancelled.code(), Code::kCancelled);
  EXPECT_EQ(at(called(episode, 1, 1, "check"), {"observation", "tools_left", "check"}), Value(0));
}

TEST_F(ToolsTest, CallCancelledDuringItsEvaluation_CountsAsUsed) {
  const Value episode = opened_with_tools(2);
  const Value turn = Value::map({{"episode", *episode.find("episode")}, {"turn", 1}});
  evaluator.hold();
  Answer cancelled, late;
  call(cancelled, episode, 1, 1, "check");
  evaluator.begin_held();
  EXPECT_EQ(at(*service->cancel(me, turn), {"cancelled"}), Value(true));
  settle();
  EXPECT_EQ(cancelled.message(),
            "the call was cancelled after its evaluation had begun, so it counts as a use of the "
            "tool");
  evaluator.release();
  now_s = now_s + 600;  // it stays in memory, because the journal does not have the cancellation
  service->renew(me, {at(episode, {"episode"}).as_string()});
  service->reap();
  script = {Error{Code::kDeadlineExceeded, "the deadline has passed"}};
  EXPECT_EQ(refused(episode, 1, 1, "compile").code, Code::kDeadlineExceeded) << "it was queued";
  EXPECT_EQ(at(called(episode, 1, 1, "check"), {"observation", "tools_left"}),
            Value::map({{"check", 0}, {"compile", 1}}));
  EXPECT_EQ(refused(episode, 1, 2, "check").message,
            "tool check: its 2 uses are spent in this episode");
  EXPECT_EQ(at(stepped(episode, 1, "int b;"), {"observation", "tools_left", "check"}), Value(0));
  EXPECT_EQ(at(service->stats(), {"steps", "ended_early"}), Value(1));
}

TEST_F(ToolsTest, Restart_KeepsCallsBudgetsAndConversation) {
  const Value episode = opened_with_tools();
  const Value first = called(episode, 1, 1, "check");
  stepped(episode, 1, "int b;");
  called(episode, 2, 1, "compile");
  restart();
  const auto resumed_now = resumed(episode, me);
  ASSERT_TRUE(resumed_now) << resumed_now.error().message;
  EXPECT_EQ(at(*resumed_now, {"turn"}), Value(1));
  EXPECT_EQ(at(*resumed_now, {"calls"}), Value(1));
  const auto& messages = at(*resumed_now, {"observation", "messages"}).as_array();
  std::string roles;
  for (const Value& message : messages) roles += at(message, {"role"}).as_string() + " ";
  EXPECT_EQ(roles, "system user assistant tool assistant user assistant tool ");
  EXPECT_EQ(at(*resumed_now, {"observation", "tools_left"}),
            Value::map({{"check", 1}, {"compile", 0}}));
  EXPECT_EQ(called(episode, 1, 1, "check"), first);
  EXPECT_EQ(refused(episode, 2, 2, "compile").message,
            "tool compile: its 1 use is spent in this episode");
  called(episode, 2, 2, "check");
}

TEST_F(ToolsTest, Branch_TakesOverTheCallsOfItsTurnsAndTheirUses) {
  const Value episode = opened_with_tools(1);
  called(episode, 1, 1, "check");
  stepped(episode, 1, "int b;");
  called(episode, 2, 1, "compile");
  const auto branched = [&](std::int64_t turn) {
    Answer answer;
    service->branch(me,
                    Value::map({{"episode", *episode.find("episode")},
                                {"token", *episode.find("token")},
                                {"turn", turn}}),
                    answer.take());
    settle();
    return answer.body();
  };
  const Value branch = branched(1);
  EXPECT_EQ(at(branch, {"calls"}), Value(0));
  EXPECT_EQ(refused(branch, 2, 1, "check").code, Code::kFailedPrecondition)
      << "a branch brings no new uses of what its turns have used";
  called(branch, 2, 1, "compile");
  EXPECT_EQ(recorded(branch).calls.size(), 2u);
  called(branched(0), 1, 1, "check");
}

TEST_F(ToolsTest, RewardAndTrajectory_HaveTheTools) {
  const Value episode = opened_with_tools();
  called(episode, 1, 1, "check");
  called(episode, 1, 2, "check", "int b;");
  stepped(episode, 1, "int b;");
  const StoredEpisode stored = recorded(episode);
  KernelRefineOptions refine;
  refine.templates = templates_folder();
  const auto environment = make_kernel_refine(refine);
  const auto catalog = Catalog::open({task_list("tasks", {small_task()})}, {});
  const auto input = reward_input_of(stored, **environment, **catalog);
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(at(at(*input, {"turns"}).as_array()[0], {"tools"}), Value::map({{"check", 2}}));
  const auto trajectory = trajectory_of(stored, **environment, catalog->get());
  ASSERT_TRUE(trajectory) << trajectory.error().message;
  const auto& calls = at(*trajectory, {"calls"}).as_array();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(at(calls[1], {"message"}), Value(4));
  const double reward = stored.turns.at(0).reward;
  EXPECT_EQ(at(calls[0], {"turn_reward"}), Value(reward));
  EXPECT_EQ(at(calls[1], {"turn_reward"}), Value(reward));
  EXPECT_EQ(at(at(*trajectory, {"turns"}).as_array()[0], {"message"}), Value(6));
}

TEST_F(ToolsTest, EndedEpisode_HasNoMoreCalls) {
  const Value episode = reset_with(Value::map(
      {{"task", "add_relu"},
       {"options", Value::map({{"max_turns", 1}, {"tools", Value::map({{"check", 2}})}})}}));
  stepped(episode, 1, "int a;");
  EXPECT_NE(refused(episode, 2, 1, "check").message.find("the episode ended after turn 1"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::test
