// make_episode_service(): the EpisodeService over environments, tasks, an evaluator and rewards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "episode/service.hpp"
#include "episode/table.hpp"
#include "evaluate/evaluator.hpp"
#include "journal/journal.hpp"
#include "plugin/reward.hpp"

namespace hone {

struct EpisodeOptions {
  EpisodeLimits limits;
  std::string split = "train";  ///< split to draw from if a reset names neither task nor split
  std::vector<std::string> backends{
      "cpu"};                          ///< backends of the evaluator; the first is the default
  std::string isolation = "none";      ///< isolation level in use, for hello
  std::string reward = "tritonforge";  ///< default reward
  Value reward_config = Value::map();  ///< configuration of the default reward only
  std::function<double()> now_s = monotonic_s;
  /// Records episodes and turns before they are reported to clients. It must outlive the last callback of the
  /// service. nullptr: episodes are lost when the process ends.
  Journal* journal = nullptr;
};

/// Opens a reward by plugin name and configuration: `registry.open_reward`, or a test's own.
using OpenReward =
    std::function<Result<std::unique_ptr<Reward>>(const std::string& name, const Value& config)>;

/// At least one environment, the first is the default. The evaluator outlives the service's last
/// call; its callbacks may come after the service is gone.
///
/// With a journal, its open episodes continue. An error: the journal cannot be read.
///
///   HONE_ASSIGN(auto service, make_episode_service({}, std::move(environments), catalog, evaluator,
///       [&](const std::string& name, const Value& config) {
///         return registry.open_reward(name, config);
///       }));
Result<std::unique_ptr<EpisodeService>> make_episode_service(EpisodeOptions options,
                                                             Environments environments,
                                                             std::shared_ptr<const Catalog> tasks,
                                                             Evaluator& evaluator,
                                                             OpenReward rewards);

}  // namespace hone
