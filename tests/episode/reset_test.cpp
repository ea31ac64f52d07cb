// reset, describe, close and resume: replies and errors.
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

using ResetTest = ServiceTest;

TEST_F(ResetTest, Reset_ReturnsTheTaskAndThePrompt) {
  const Value opened = reset();
  EXPECT_EQ(at(opened, {"turn"}), Value(0));
  EXPECT_EQ(at(opened, {"token"}).as_string().size(), 32u);
  EXPECT_EQ(at(opened, {"info", "task"}), Value("tasks/add_relu"));
  EXPECT_EQ(at(opened, {"info", "fingerprint"}), Value("scripted"));
  EXPECT_EQ(at(opened, {"observation", "task", "signature"}).as_string(),
            signature_of(small_task()));
  EXPECT_EQ(at(opened, {"observation", "messages"}).as_array().size(), 2u);
  EXPECT_EQ(at(opened, {"observation", "turns_left"}), Value(4));
}

TEST_F(ResetTest, HiddenShapesAndSources_AreNotDisclosed) {
  Answer answer;
  service->reset(me, Value::map({{"task", "add_relu"}}), answer.take());
  const Value told = at(answer.body(), {"observation"});  // the token is random and may hold a 33
  for (const char* secret : {"reference", "hidden_shape", "33"}) {
    EXPECT_EQ(to_json(told).find(secret), std::string::npos) << secret;
  }
}

TEST_F(ResetTest, Key_MakesItIdempotent) {
  const Value body = Value::map({{"task", "add_relu"}, {"key", "k1"}});
  Answer first, second, other, stranger;
  service->reset(me, body, first.take());
  step(first.body(), 1, "int x;");
  service->reset({"connection-2", "trainer"}, body, second.take());
  EXPECT_EQ(*first.bytes, *second.bytes);
  service->reset(me, Value::map({{"task", "add_relu"}, {"key", "k1"}, {"seed", 1}}), other.take());
  EXPECT_EQ(other.message(), "the key belongs to another reset, whose episode still exists");
  service->reset({"connection-3", "somebody"}, body, stranger.take());
  EXPECT_NE(*first.bytes, *stranger.bytes);
}

TEST_F(ResetTest, Mistakes_NameTheirPlace) {
  const std::vector<std::pair<Value, std::string>> cases = {
      {Value::map({{"taks", "x"}, {"task", "add_relu"}}),
       "reset: unknown key 'taks'; did you mean 'task'?"},
      {Value::map({{"task", "secret"}}), "no task is called 'secret'; describe lists them"},
      {Value::map({{"environment", "chess"}}),
       "reset: environment: unknown value 'chess'; valid: kernel_refine"},
      {Value::map({{"options", Value::map({{"max_turn", 3}})}}),
       "reset/options: unknown key 'max_turn'; did you mean 'max_turns'?"},
      {Value::map({{"options", Value::map({{"rewrad", "kevin"}})}}),
       "reset/options: unknown key 'rewrad'; did you mean 'reward'?"},
      {Value::map({{"options", Value::map({{"max_turns", 0}})}}),
       "reset/options: max_turns: found 0, expected 1 to 1000"},
      {Value::map({{"options", Value::map({{"language", "rust"}})}}),
       "reset/options: language: unknown value 'rust'; valid: c++, c"},
      {Value::map({{"options", Value::map({{"reward", "nope"}})}}),
       "reset/options: reward: no reward is called 'nope'"},
      {Value::map({{"split", "trian"}}), "unknown split 'trian'; did you mean 'train'?"},
      {Value("text"), "reset: expected a map, found string"}};
  for (const auto& [body, message] : cases) {
    Answer answer;
    service->reset(me, body, answer.take());
    EXPECT_EQ(answer.message(), message);
  }
}

TEST_F(ResetTest, SameSeed_DrawsTheSameTask) {
  Answer a, b;
  service->reset(me, Value::map({{"seed", 7}}), a.take());
  service->reset(me, Value::map({{"seed", 7}}), b.take());
  EXPECT_EQ(at(a.body(), {"info", "task"}), at(b.body(), {"info", "task"}));
  EXPECT_EQ(at(a.body(), {"info", "seed"}), Value(7));
}

TEST_F(ResetTest, Describe_ListsTheServedTasks) {
  const Value all = *service->describe(me, Value::map());
  ASSERT_EQ(at(all, {"tasks"}).as_array().size(), 1u);
  EXPECT_EQ(at(at(all, {"tasks"}).as_array()[0], {"id"}), Value("tasks/add_relu"));
  EXPECT_EQ(at(all, {"environment", "options", "max_turns"}), Value(4));
  EXPECT_EQ(at(all, {"environment", "options", "backend"}), Value("cpu"));
  EXPECT_EQ(at(all, {"environment", "options", "reward"}), Value("tritonforge"));
  EXPECT_EQ(at(all, {"environment", "options", "reward_config"}), Value::map());
  // Each may be given to reset as it is told.
  EXPECT_EQ(at(reset(at(all, {"environment", "options"})), {"turn"}), Value(0));
  const Value one = *service->describe(me, Value::map({{"task", "add_relu"}}));
  EXPECT_EQ(at(one, {"task", "entry"}), Value("add_relu"));
  EXPECT_EQ(service->describe(me, Value::map({{"task", "secret"}})).error().code, Code::kNotFound);
}

TEST_F(ResetTest, Describe_GivesThePromptThatResetWould) {
  const auto messages = [&](const Value& options) -> Result<Value> {
    HONE_ASSIGN(const Value told,
                service->describe(me, Value::map({{"task", "add_relu"}, {"options", options}})));
    return *told.find("messages");
  };
  const Value options = Value::map({{"prompt", "few_shot"}, {"max_turns", 7}, {"reward", "kevin"}});
  EXPECT_EQ(*messages(options), at(reset(options), {"observation", "messages"}));
  EXPECT_EQ(at(*service->describe(me, Value::map({{"task", "add_relu"}})), {"messages"}),
            at(reset(Value::map()), {"observation", "messages"}));
  EXPECT_EQ(messages(Value::map({{"prompt", "none"}})).error().message,
            "describe/options: prompt: unknown value 'none'; valid: zero_shot, few_shot");
  EXPECT_EQ(messages(Value::map({{"backend", "tpu"}})).error().code, Code::kInvalidArgument);
}

TEST_F(ResetTest, Close_GivesReturnsAndForgets) {
  const Value opened = reset(Value::map({{"reward", "kevin"}}));
  step(opened, 1, "int a;");
  const Value name = Value::map({{"episode", at(opened, {"episode"})}});
  const Value closed = *close(me, name);
  EXPECT_EQ(at(closed, {"turns"}), Value(1));
  ASSERT_EQ(at(closed, {"returns"}).as_array().size(), 1u);
  EXPECT_DOUBLE_EQ(at(closed, {"return_to_date"}).as_double(), 1.8);
  EXPECT_EQ(close(me, name).error().code, Code::kNotFound);
  const Value none = *close(me, Value::map({{"episode", at(reset(), {"episode"})}}));
  EXPECT_TRUE(at(none, {"return_to_date"}).is_nil());
}

TEST_F(ResetTest, Resume_MovesTheEpisodeAndGivesTheConversation) {
  const Value opened = reset();
  step(opened, 1, "int a;");
  const Caller other{"connection-2", "trainer"};
  Answer refused;
  service->step(other, step_body(opened, 2, "int b;"), 0, {}, refused.take());
  EXPECT_EQ(refused.message(), "episode " + at(opened, {"episode"}).as_string() +
                                   " belongs to another connection; resume it with its token");
  Value body = Value::map({{"episode", at(opened, {"episode"})}, {"token", std::string(32, '0')}});
  const auto wrong = service->resume(other, body);
  const auto unknown = service->resume(
      other, Value::map({{"episode", std::string(16, '1')}, {"token", at(opened, {"token"})}}));
  EXPECT_EQ(wrong.error().code, Code::kNotFound);
  EXPECT_EQ(wrong.error().message, unknown.error().message);
  body.set("token", at(opened, {"token"}));
  const Value resumed = *service->resume(other, body);
  EXPECT_EQ(at(resumed, {"turn"}), Value(1));
  EXPECT_EQ(at(resumed, {"pending"}), Value(false));
  const Value::Array& messages = at(resumed, {"observation", "messages"}).as_array();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(at(messages[2], {"content"}), Value("int a;"));
  EXPECT_EQ(at(resumed, {"observation", "task", "entry"}), Value("add_relu"));
  Answer stepped, mine;
  service->step(other, step_body(opened, 2, "int b;"), 0, {}, stepped.take());
  EXPECT_EQ(at(stepped.body(), {"turn"}), Value(2));
  step(mine, opened, 3, "int c;");
  EXPECT_EQ(mine.code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace hone::test
