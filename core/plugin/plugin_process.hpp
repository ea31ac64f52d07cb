// PluginProcess: a plugin that runs in its own process, as the registry sees it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "plugin/dataset.hpp"
#include "plugin/reward.hpp"

namespace hone {

/// Not part of the C ABI: environments outside the tree are written in Python.
inline constexpr std::string_view kEnvironmentFactoryId = "hone.environment/1";

/// A Python environment. Its calls are "start", "prepare" and "observe" (docs/environments.md). [any thread]
class EnvironmentCalls {
 public:
  virtual ~EnvironmentCalls() = default;
  virtual Result<Value> ask(std::string_view call, const Value& argument) const = 0;
};

/// A plugin file that runs in its own process. core/plugin_host implements it. [any thread]
class PluginProcess {
 public:
  virtual ~PluginProcess() = default;

  virtual std::string name() const = 0;
  virtual std::string version() const = 0;
  /// The factory ids of the host that it offers.
  virtual std::vector<std::string> factories() const = 0;
  /// "plugin host", "plugin host, Python 3.11.7"
  virtual std::string runs_in() const = 0;

  virtual Result<Value> describe(const std::string& factory_id) const = 0;
  virtual Result<std::unique_ptr<const RewardCalls>> create_reward(const Value& config) const = 0;
  virtual Result<std::unique_ptr<const DatasetCalls>> open_dataset(const Value& config) const = 0;
  virtual Result<std::unique_ptr<const EnvironmentCalls>> open_environment() const = 0;
};

/// Starts the process of a library or a Python file. An error has the reason of a refusal.
using StartPluginProcess =
    std::function<Result<std::shared_ptr<const PluginProcess>>(const std::filesystem::path& path)>;

}  // namespace hone
