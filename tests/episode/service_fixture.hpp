// A complete EpisodeService with the real environment and reward, a scripted evaluator and a test clock.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "episode/episodes.hpp"
#include "episode/scripted_evaluator.hpp"
#include "kernel_refine/kernel_refine.hpp"
#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {

inline Task small_task(const std::string& id = "add_relu", const std::string& split = "train") {
  Task task;
  task.dataset = "tasks";
  task.id = id;
  task.title = "Add, then ReLU";
  task.description = "Add two vectors and clamp the sum at zero.\n";
  task.split = split;
  task.entry = "add_relu";
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}},
                  {"y", Role::kIn, DType::kF32, {"n"}},
                  {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n", 0, 0}};
  task.arguments = {"x", "y", "out", "n"};
  task.dims = {"n"};
  task.shown = {{{"n", 1}}, {{"n", 1003}}};
  task.hidden = {HiddenShape{{{"n", {2, 33}}}}};
  task.timed = {{"n", 1048576}};
  task.families = {{"normal", {}, {}}};
  task.tolerance = {2.4e-7, 0, 0, false, "one rounded addition"};
  task.backends["cpu"] = {
      {"c++", "c"}, {"reference.cpp", "reference"}, {"baseline.cpp", "baseline"}};
  return task;
}

inline TaskSource task_list(const std::string& dataset, std::vector<Task> tasks) {
  auto shared = std::make_shared<std::vector<Task>>(std::move(tasks));
  return {dataset,
          [shared]() -> Result<std::vector<TaskEntry>> {
            std::vector<TaskEntry> entries;
            for (const Task& task : *shared) {
              std::vector<std::string> backends;
              for (const auto& [name, sources] : task.backends) backends.push_back(name);
              entries.push_back({task.id, task.title, task.split, task.tags, backends});
            }
            return entries;
          },
          [shared, dataset](const std::string& id) -> Result<Task> {
            for (Task task : *shared) {
              task.dataset = dataset;
              if (task.id == id) return task;
            }
            return not_found("no task " + id);
          }};
}

inline std::filesystem::path templates_folder() {
  return test::build_dir() / "share/templates/kernel_refine";
}

inline Result<std::unique_ptr<Reward>> shipped(const std::string& name, const Value& config) {
  const std::filesystem::path path = shipped_reward(name);
  if (!std::filesystem::exists(path)) return not_found("no reward is called '" + name + "'");
  return Reward::create(load(path), config, services());
}

/// What a request was answered with; several threads may look after wait().
struct Answer {
  std::atomic<int> count{0};
  Result<std::string> bytes = internal_error("not answered");
  std::vector<std::string> stages;

  EpisodeService::Reply take() {
    return [this](Result<std::string> body) {
      bytes = std::move(body);
      ++count;
    };
  }
  Value body() const {
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    return bytes ? *from_msgpack(*bytes) : Value::map();
  }
  std::string message() const { return bytes ? "(succeeded)" : bytes.error().message; }
  Code code() const { return bytes ? Code::kOk : bytes.error().code; }
};

/// Verdicts are taken from `script`; when it is empty every submission is correct with speedup 1.5.
class ServiceTest : public ::testing::Test {
 protected:
  explicit ServiceTest(EpisodeOptions options = {}) : options_(std::move(options)) {}

  void SetUp() override { make(); }

  void make() {
    auto catalog =
        Catalog::open({task_list("tasks", {small_task(), small_task("secret", "held_out")})}, {});
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    KernelRefineOptions refine;
    refine.templates = templates_folder();
    auto environment = make_kernel_refine(refine);
    ASSERT_TRUE(environment.ok()) << environment.error().message;
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(std::move(*environment));
    options_.now_s = [this] { return now_s.load(); };
    service = make_episode_service(options_, std::move(environments), *catalog, evaluator, rewards)
                  .value();
  }

  Result<Verdict> next(const Submission& submission) {
    submissions.push_back(submission);
    if (script.empty()) return ScriptedEvaluator::correct(1.5);
    Result<Verdict> verdict = script.front();
    script.pop_front();
    return verdict;
  }

  static Verdict outcome(Outcome outcome, const std::string& reason = "a reason") {
    Verdict verdict;
    verdict.outcome = outcome;
    verdict.stage = VerdictStage::kCheck;
    verdict.reason = reason;
    return verdict;
  }

  Value reset(Value options = Value::map(), const std::string& task = "add_relu") {
    Answer answer;
    service->reset(me, Value::map({{"task", task}, {"options", std::move(options)}}),
                   answer.take());
    EXPECT_EQ(answer.count, 1);
    return answer.body();
  }

  static Value step_body(const Value& opened, std::int64_t turn, const std::string& code) {
    return Value::map({{"episode", *opened.find("episode")},
                       {"turn", turn},
                       {"action", Value::map({{"code", code}})}});
  }

  void step(Answer& answer, const Value& opened, std::int64_t turn, const std::string& code) {
    service->step(me, step_body(opened, turn, code), 0, {}, answer.take());
  }
  Value step(const Value& opened, std::int64_t turn, const std::string& code) {
    Answer answer;
    step(answer, opened, turn, code);
    EXPECT_EQ(answer.count, 1);
    return answer.body();
  }

  /// Waits until everything that was asked for is answered.
  virtual void settle() const {}
  Result<Value> close(const Caller& caller, const Value& body) {
    Answer answer;
    service->close(caller, body, answer.take());
    settle();
    EXPECT_EQ(answer.count, 1);
    if (!answer.bytes) return answer.bytes.error();
    return answer.body();
  }

  std::atomic<double> now_s{1000};
  const Caller me{"connection-1", "trainer"};
  std::deque<Result<Verdict>> script;
  std::vector<Submission> submissions;
  ScriptedEvaluator evaluator{[this](const Submission& s) { return next(s); }};
  EpisodeOptions options_;
  OpenReward rewards = shipped;
  std::unique_ptr<EpisodeService> service;
};

inline const Value& at(const Value& value, std::initializer_list<const char*> path) {
  static const Value kNothing;
  const Value* here = &value;
  for (const char* key : path) {
    here = here->find(key);
    if (here == nullptr) {
      ADD_FAILURE() << "no member " << key;
      return kNothing;
    }
  }
  return *here;
}

}  // namespace hone::test
