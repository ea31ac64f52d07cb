// LazyPlugin: a shipped Python plugin. Its process starts with the first call.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "plugin/plugin_process.hpp"

namespace hone {

/// Name and kind follow from file and folder, so that a command starts no interpreter for plugins that it does not use. [any thread]
class LazyPlugin final : public PluginProcess {
 public:
  LazyPlugin(std::filesystem::path path, std::string factory_id, StartPluginProcess open);

  std::string name() const override;
  std::string version() const override;  ///< hone's
  std::vector<std::string> factories() const override { return {factory_id_}; }
  std::string runs_in() const override { return "plugin host, Python"; }

  /// The errors of these functions may come from starting the process.
  Result<Value> describe(const std::string& factory_id) const override;
  Result<std::unique_ptr<const RewardCalls>> create_reward(const Value& config) const override;
  Result<std::unique_ptr<const DatasetCalls>> open_dataset(const Value& config) const override;
  Result<std::unique_ptr<const EnvironmentCalls>> open_environment() const override;

 private:
  Result<std::shared_ptr<const PluginProcess>> started() const;

  const std::filesystem::path path_;
  const std::string factory_id_;
  const StartPluginProcess open_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const PluginProcess> plugin_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
