// Starts the process once, and forwards calls.
#include "plugin/lazy_plugin.hpp"

#include <utility>

#include "hone/version.h"

namespace hone {

LazyPlugin::LazyPlugin(std::filesystem::path path, std::string factory_id, StartPluginProcess open)
    : path_(std::move(path)), factory_id_(std::move(factory_id)), open_(std::move(open)) {}

std::string LazyPlugin::name() const { return path_.stem().string(); }

std::string LazyPlugin::version() const { return HONE_VERSION_STRING; }

Result<std::shared_ptr<const PluginProcess>> LazyPlugin::started() const {
  MutexLock lock(mutex_);
  if (!plugin_) {
    HONE_ASSIGN(plugin_, open_(path_));
  }
  return plugin_;
}

Result<Value> LazyPlugin::describe(const std::string& factory_id) const {
  HONE_ASSIGN(const auto plugin, started());
  return plugin->describe(factory_id);
}

Result<std::unique_ptr<const RewardCalls>> LazyPlugin::create_reward(const Value& config) const {
  HONE_ASSIGN(const auto plugin, started());
  return plugin->create_reward(config);
}

Result<std::unique_ptr<const DatasetCalls>> LazyPlugin::open_dataset(const Value& config) const {
  HONE_ASSIGN(const auto plugin, started());
  return plugin->open_dataset(config);
}

Result<std::unique_ptr<const EnvironmentCalls>> LazyPlugin::open_environment() const {
  HONE_ASSIGN(const auto plugin, started());
  return plugin->open_environment();
}

}  // namespace hone
