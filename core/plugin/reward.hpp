// Reward: the handle of a reward plugin. It checks the plugin's reports.
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

/// Carries out the calls of a reward: in a library of this process, or in a plugin host. Answers are not
/// checked yet. [any thread, also several at once]
class RewardCalls {
 public:
  virtual ~RewardCalls() = default;
  /// Errors begin with the plugin and the call: "kevin: score: …".
  virtual Result<Value> score(const Value& episode) const = 0;
  /// Version of the loaded plugin; it changes with a reload.
  virtual std::string version() const = 0;
};

/// Owns a reward of a plugin. [any thread, also several at once]
///
///   HONE_ASSIGN(auto reward, Reward::create(library, Value::map({{"gamma", 0.4}}), services));
///   HONE_ASSIGN(const RewardReport report, reward->score(episode));
class Reward {
 public:
  /// The plugin's description: {"summary", "source", "range", "parameters"}.
  static Result<Value> describe(const PluginLibrary& library);

  /// A mistake in `config` (a map) is the plugin's invalid_argument.
  static Result<std::unique_ptr<Reward>> create(const PluginLibrary& library, const Value& config,
                                                std::shared_ptr<HostServices> services);
  /// A reward that answers through `calls`; `config` is what it was made with.
  Reward(std::string name, const Value& config, std::unique_ptr<const RewardCalls> calls);

  const std::string& name() const { return name_; }
  /// The plugin's version. For a Python plugin with the file's hash: "1.0.0+1f0c2a9b4d3e".
  std::string version() const { return calls_->version(); }
  /// SHA-256 of the configuration, independent of the order of its keys: 64 hexadecimal digits.
  const std::string& config_hash() const { return config_hash_; }

  /// `episode` is the map of docs/plugins.md. A report that breaks the rules is an internal error with the plugin, the found and the expected value.
  Result<RewardReport> score(const Value& episode) const;

 private:
  const std::string name_, config_hash_;
  const std::unique_ptr<const RewardCalls> calls_;
};

/// The table of a library, with every function in place.
Result<const hone_reward_factory*> reward_factory(const PluginLibrary& library);

/// SHA-256 of a configuration with sorted keys.
std::string config_hash(const Value& config);

/// Checks the output of score() for this episode.
Result<RewardReport> report_from_value(const Value& written, const Value& episode);

}  // namespace hone
