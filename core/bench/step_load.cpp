#include "bench/step_load.hpp"

#include <utility>

namespace hone {
namespace {

using Requests = std::vector<BenchCrowd::Requests>;

/// Requests for the steps of all clients, turn by turn, in new episodes.
Result<Requests> steps_of(BenchCrowd& crowd, const StepLoad& load,
                          std::vector<std::vector<Value>>& episodes) {
  static std::size_t number = 0;  // unique in this process, so that no two sources are the same
  HONE_ASSIGN(episodes, crowd.open(load.task, (load.steps + load.turns - 1) / load.turns));
  Requests all(crowd.size());
  for (std::size_t i = 0; i < crowd.size(); ++i) {
    for (std::size_t turn = 1; turn <= load.turns; ++turn) {
      for (const Value& episode : episodes[i]) {
        if (all[i].size() == load.steps) break;
        all[i].push_back(bench_step(episode, turn, load.source(++number)));
      }
    }
  }
  return all;
}

}  // namespace

Result<double> play(BenchCrowd& crowd, const StepLoad& load, std::vector<double>& waits_s,
                    std::size_t* unscored) {
  std::vector<std::vector<Value>> episodes;
  HONE_ASSIGN(const Requests requests, steps_of(crowd, load, episodes));
  const std::size_t before = unscored != nullptr ? *unscored : 0;
  HONE_ASSIGN(const double seconds, crowd.run(requests, &waits_s, unscored));
  HONE_TRY(crowd.close(episodes));
  const std::size_t without = unscored != nullptr ? *unscored - before : 0;
  return static_cast<double>(load.steps * crowd.size() - without) / seconds;
}

std::function<std::string(std::size_t n)> numbered_steps(std::string source) {
  return [source = std::move(source)](std::size_t n) {
    return "// step " + std::to_string(n) + "\n" + source;
  };
}

}  // namespace hone
