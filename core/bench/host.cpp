// The environment and the evaluator of NoopHost, which do no work.
#include "bench/host.hpp"

#include <limits>

namespace hone {
namespace {

/// Takes source code as its action and gives no feedback.
class NoopEnvironment final : public Environment {
 public:
  std::string name() const override { return "noop"; }
  Value describe() const override {
    return Value::map({{"name", name()}, {"max_turns", NoopHost::kTurns}});
  }
  std::shared_ptr<const Settings> read_options(Fields&, const Task&,
                                               const std::string&) const override {
    return std::make_shared<Settings>();
  }
  std::int64_t turns_max(const Settings&) const override { return NoopHost::kTurns; }
  Value first_observation(const EpisodeView&) const override { return observation(0); }
  Result<Prepared> prepare(const EpisodeView&, const Value& action) const override {
    const Value* code = action.find("code");
    if (code == nullptr || !code->is_string()) return invalid_argument("action/code: missing");
    return Prepared(SubmittedCode{"c++", code->as_string()});
  }
  Stop stop(const EpisodeView& view, const TurnResult&) const override {
    Stop stop;
    if (static_cast<std::int64_t>(view.turns.size()) + 1 < NoopHost::kTurns) return stop;
    stop.truncated = true;
    stop.reason = "turns used up";
    return stop;
  }
  Value observe(const EpisodeView& view, const Value&, const TurnResult&) const override {
    return observation(view.turns.size() + 1);
  }

 private:
  /// Members that every environment's observations have, because a resume needs them.
  static Value observation(std::size_t turn) {
    return Value::map({{"messages", Value::array()},
                       {"feedback", ""},
                       {"turn", turn},
                       {"turns_left", static_cast<std::size_t>(NoopHost::kTurns) - turn},
                       {"history", Value::array()},
                       {"best_speedup", Value()}});
  }
};

Task noop_task() {
  Task task;
  task.dataset = "bench";
  task.id = "noop";
  task.title = "nothing";
  task.entry = "noop";
  task.backends["cpu"] = {{"c++"}, {"reference.cpp", ""}, {"baseline.cpp", ""}};
  return task;
}

TaskSource noop_tasks() {
  const auto list = []() -> Result<std::vector<TaskEntry>> {
    return std::vector<TaskEntry>{{"noop", "nothing", "train", {}, {"cpu"}}};
  };
  return {"bench", list, [](const std::string&) -> Result<Task> { return noop_task(); }};
}

}  // namespace

NoopHost::NoopHost()
    : evaluator_(
          [](const Submission&) -> Result<Verdict> { return ScriptedEvaluator::correct(1.5); }) {}

Result<std::unique_ptr<NoopHost>> NoopHost::start(OpenReward open_reward, const std::string& reward,
                                                  const Beside& beside) {
  std::unique_ptr<NoopHost> host(new NoopHost());
  HONE_ASSIGN(auto catalog, Catalog::open({noop_tasks()}, {}));
  Environments environments;
  environments.push_back(std::make_unique<NoopEnvironment>());
  EpisodeOptions episodes;
  episodes.reward = reward;
  episodes.journal = beside.journal;
  // The episodes of a large journal are open, too.
  episodes.limits.episodes = std::numeric_limits<std::size_t>::max();
  HONE_ASSIGN(host->service_,
              make_episode_service(std::move(episodes), std::move(environments), std::move(catalog),
                                   host->evaluator_, std::move(open_reward)));
  ServerOptions options;
  options.endpoint = "tcp://127.0.0.1:0";
  options.control_endpoint.clear();
  options.keys = beside.keys;
  HONE_ASSIGN(host->server_, Server::start(std::move(options), *host->service_));
  return host;
}

}  // namespace hone
