// LazyPlugin: a plugin of this installation that is written in Python: its process starts when it
// is first asked something.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "plugin/outside.hpp"

namespace hone {

/// What ships with hone is known by its file and folder, so that no command starts an interpreter
/// for a plugin that it has no use for. [any thread]
class LazyPlugin final : public OutsidePlugin {
 public:
  LazyPlugin(std::filesystem::path path, std::string factory_id, OpenOutside open);

  std::string name() const override;
  std::string version() const override;  ///< hone's
  std::vector<std::string> factories() const override { return {factory_id_}; }
  std::string runs_in() const override { return "plugin host, Python"; }

  /// The errors of these may be those of starting.
  Result<Value> describe(const std::string& factory_id) const override;
  Result<std::unique_ptr<const RewardCalls>> create_reward(const Value& config) const override;
  Result<std::unique_ptr<const DatasetCalls>> open_dataset(const Value& config) const override;
  Result<std::unique_ptr<const EnvironmentCalls>> open_environment() const override;

 private:
  Result<std::shared_ptr<const OutsidePlugin>> started() const;

  const std::filesystem::path path_;
  const std::string factory_id_;
  const OpenOutside open_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const OutsidePlugin> plugin_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
