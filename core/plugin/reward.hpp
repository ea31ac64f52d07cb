// Reward: a reward plugin's handle, with everything that it returns checked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "hone/reward.h"
#include "model/value.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"

namespace hone {

struct TurnReward {
  double reward = 0;
  std::vector<std::pair<std::string, double>> components;
};

/// Both lists are as long as the episode's turns; nullopt for exactly the unscored ones. Every
/// number is finite.
struct RewardReport {
  std::vector<std::optional<TurnReward>> turns;
  double return_to_date = 0;
  std::vector<std::optional<double>> returns;
};

/// Owns a reward of a plugin. [any thread, also several at once]
///
///   HONE_ASSIGN(auto reward, Reward::create(library, Value::map({{"gamma", 0.4}}), services));
///   HONE_ASSIGN(const RewardReport report, reward->score(episode));
class Reward {
 public:
  /// {"summary", "source", "range", "parameters"}, as the plugin says it.
  static Result<Value> describe(const PluginLibrary& library);

  /// A mistake in `config` (a map) is the plugin's invalid_argument.
  static Result<std::unique_ptr<Reward>> create(const PluginLibrary& library, const Value& config,
                                                std::shared_ptr<HostServices> services);
  ~Reward();
  Reward(const Reward&) = delete;
  Reward& operator=(const Reward&) = delete;

  const std::string& name() const { return name_; }

  /// `episode` is the map of docs/plugins.md. What is not as promised is an internal error that
  /// names the plugin, what was found and what was expected.
  Result<RewardReport> score(const Value& episode) const;

 private:
  Reward(std::string name, const hone_reward_factory& factory,
         std::shared_ptr<HostServices> services)
      : name_(std::move(name)), factory_(factory), services_(std::move(services)) {}

  const std::string name_;
  const hone_reward_factory& factory_;
  const std::shared_ptr<HostServices> services_;
  hone_reward* handle_ = nullptr;
};

/// The table of a library, with every function in place.
Result<const hone_reward_factory*> reward_factory(const PluginLibrary& library);

/// Checks what score() wrote against the episode that it was asked about.
Result<RewardReport> report_from_value(const Value& written, const Value& episode);

}  // namespace hone
