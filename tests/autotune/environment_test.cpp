// Episodes of autotune through the service, together with kernel_refine: two environments on one server.
#include "autotune/autotune.hpp"
#include "autotune/product_task.hpp"

namespace hone::test {
namespace {

class AutotuneTest : public ServiceTest {
 protected:
  void SetUp() override {
    auto catalog = Catalog::open(
        {task_list("tasks", {small_task(), product_task(), small_task("other")})}, {});
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    KernelRefineOptions refine;
    refine.templates = templates_folder();
    Environments environments;
    environments.push_back(make_kernel_refine(refine).value());
    environments.push_back(make_autotune({.rules = {.max_turns = 2}, .response_bytes_max = 1000}));
    options_.now_s = [this] { return now_s.load(); };
    options_.reward = "kevin";
    options_.reward_config = Value::map({{"correct", 0}});
    service = make_episode_service(options_, std::move(environments), *catalog, evaluator, rewards)
                  .value();
  }

  Answer& ask(Answer& answer, Value request) {
    request.set("environment", "autotune");
    service->reset(me, request, answer.take());
    return answer;
  }
  Value open() {
    Answer answer;
    return ask(answer, Value::map()).body();
  }
  Answer& act(Answer& answer, const Value& opened, std::int64_t turn, Value action) {
    service->step(
        me,
        Value::map(
            {{"episode", *opened.find("episode")}, {"turn", turn}, {"action", std::move(action)}}),
        0, {}, answer.take());
    return answer;
  }
  Value act(const Value& opened, std::int64_t turn, Value action) {
    Answer answer;
    return act(answer, opened, turn, std::move(action)).body();
  }
};

TEST_F(AutotuneTest, OnlyItsOwnTasks_AreListedAndDrawn) {
  for (std::int64_t seed = 0; seed < 8; ++seed) {
    Answer answer;
    ask(answer, Value::map({{"seed", seed}}));
    EXPECT_EQ(at(answer.body(), {"info", "task"}).as_string(), "tasks/product");
  }
  Answer other;
  EXPECT_EQ(ask(other, Value::map({{"task", "add_relu"}})).message(),
            "reset: task: 'add_relu' cannot be used in the environment 'autotune'");
  const Value described = service->describe(me, Value::map({{"environment", "autotune"}})).value();
  EXPECT_EQ(described.find("tasks")->as_array().size(), 1u);
  EXPECT_EQ(at(described, {"environment", "space", "size"}).as_int(), 648);
  EXPECT_EQ(service->describe(me, Value::map()).value().find("tasks")->as_array().size(), 3u);
}

TEST_F(AutotuneTest, Choice_IsEvaluatedAndMeasured) {
  const Value opened = open();
  EXPECT_EQ(at(opened, {"observation", "turns_left"}).as_int(), 2);
  Verdict verdict = ScriptedEvaluator::correct(3.0);
  verdict.speedup->time_us = 1000;
  verdict.speedup->baseline_us = 3000;
  script.push_back(verdict);
  const Value body = act(opened, 1, Value::map({{"index", 647}}));
  ASSERT_EQ(submissions.size(), 1u);
  EXPECT_EQ(submissions[0].language, "c++");
  EXPECT_NE(submissions[0].source.find("unroll=8 vector=16 layout=packed"), std::string::npos);
  EXPECT_DOUBLE_EQ(at(body, {"reward"}).as_double(), 3.0);
  const Value& seen = at(body, {"observation"});
  EXPECT_EQ(at(seen, {"index"}).as_int(), 647);
  EXPECT_EQ(at(seen, {"choice", "layout"}).as_string(), "packed");
  EXPECT_DOUBLE_EQ(at(seen, {"facts", "speedup"}).as_double(), 3.0);
  EXPECT_DOUBLE_EQ(at(seen, {"facts", "gflops"}).as_double(), 12.0);
  EXPECT_DOUBLE_EQ(at(seen, {"facts", "baseline_gflops"}).as_double(), 4.0);
  EXPECT_DOUBLE_EQ(at(seen, {"best_speedup"}).as_double(), 3.0);
  EXPECT_NE(at(seen, {"feedback"}).as_string().find("3.00 times as fast"), std::string::npos);
  const Value last = act(opened, 2, Value::map({{"choice", at(seen, {"choice"})}}));
  EXPECT_TRUE(at(last, {"truncated"}).as_bool());
  EXPECT_EQ(submissions[1].source, submissions[0].source);
}

TEST_F(AutotuneTest, Resume_HasTheLastMeasurement) {
  const Value opened = open();
  act(opened, 1, Value::map({{"index", 3}}));
  const Value resumed = service
                            ->resume(me, Value::map({{"episode", *opened.find("episode")},
                                                     {"token", *opened.find("token")}}))
                            .value();
  EXPECT_EQ(at(resumed, {"observation", "index"}).as_int(), 3);
  EXPECT_DOUBLE_EQ(at(resumed, {"observation", "facts", "speedup"}).as_double(), 1.5);
  EXPECT_EQ(at(resumed, {"observation", "task", "id"}).as_string(), "product");
}

TEST_F(AutotuneTest, Text_IsAnActionToo) {
  const Value opened = open();
  const Value body = act(opened, 1,
                         Value::map({{"response",
                                      "I take {\"tile_m\": 64, \"tile_n\": 16, \"tile_k\": 16, "
                                      "\"unroll\": 4, \"vector\": 8, \"layout\": \"rows\"}."}}));
  EXPECT_EQ(at(body, {"observation", "choice", "tile_m"}).as_int(), 64);
  EXPECT_EQ(at(body, {"observation", "messages"})
                .as_array()[0]
                .find("content")
                ->as_string()
                .find("I take"),
            0u);
}

TEST_F(AutotuneTest, TextWithoutAChoice_IsATurnWithoutReward) {
  const Value opened = open();
  Value body = act(opened, 1, Value::map({{"response", "as large as you can"}}));
  EXPECT_EQ(at(body, {"info", "verdict", "outcome"}).as_string(), "no_code");
  EXPECT_DOUBLE_EQ(at(body, {"reward"}).as_double(), 0);
  EXPECT_TRUE(at(body, {"observation", "choice"}).is_nil());
  body = act(opened, 2, Value::map({{"code", "{\"tile_m\": 7}"}}));
  EXPECT_EQ(at(body, {"info", "verdict", "outcome"}).as_string(), "rejected");
  EXPECT_EQ(at(body, {"info", "verdict", "reason"}).as_string(),
            "choice: tile_m: found 7, expected one of 16, 64, 256");
  const Value again = open();
  body = act(again, 1, Value::map({{"response", std::string(1001, 'x')}}));
  EXPECT_EQ(at(body, {"info", "verdict", "reason"}).as_string(),
            "the response has 1001 bytes, at most 1000 are allowed");
  EXPECT_TRUE(submissions.empty());
}

TEST_F(AutotuneTest, MalformedAction_LeavesTheTurnOpen) {
  const Value opened = open();
  const std::vector<std::pair<Value, std::string>> refused{
      {Value::map({{"index", 648}}), "step: action: index: found 648, expected 0 to 647"},
      {Value::map({{"choice", Value::map({{"vector", 2}})}}), "choice: tile_m: missing"},
      {Value::map(), "expected one of 'choice', 'index', 'response' and 'code'"},
      {Value::map({{"index", 1}, {"code", "{}"}}), "expected one of"},
  };
  for (const auto& [action, message] : refused) {
    Answer answer;
    act(answer, opened, 1, action);
    EXPECT_EQ(answer.code(), Code::kInvalidArgument);
    EXPECT_NE(answer.message().find(message), std::string::npos) << answer.message();
  }
  EXPECT_EQ(at(act(opened, 1, Value::map({{"index", 0}})), {"turn"}).as_int(), 1);
}

TEST_F(AutotuneTest, Fault_HasNoReward) {
  const Value opened = open();
  script.push_back(internal_error("the judge's process died"));
  const Value body = act(opened, 1, Value::map({{"index", 0}}));
  EXPECT_FALSE(at(body, {"reward_valid"}).as_bool());
  EXPECT_TRUE(at(body, {"reward"}).is_nil());
  EXPECT_TRUE(at(body, {"observation", "facts"}).is_nil());
}

}  // namespace
}  // namespace hone::test
