// Plugin hosts of this build, and Python files that tests write for them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/mutex.hpp"
#include "places.hpp"
#include "plugin/fixtures.hpp"
#include "plugin_host/hosted_plugin.hpp"

namespace hone::test {

/// What plugins logged and printed. [any thread]
class Lines {
 public:
  void add(std::string_view line) {
    MutexLock lock(mutex_);
    lines_.emplace_back(line);
  }
  std::vector<std::string> all() const {
    MutexLock lock(mutex_);
    return lines_;
  }
  bool has(std::string_view words) const {
    for (const std::string& line : all()) {
      if (line.find(words) != std::string::npos) return true;
    }
    return false;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> lines_ HONE_GUARDED_BY(mutex_);
};

/// Options of this build. Limits are long: no test waits for one that it does not name.
inline PluginHostOptions host_options(std::shared_ptr<Lines> lines = {}) {
  PluginHostOptions options;
  options.program = test::build_dir() / "libexec/hone-plugin-host";
  options.runner = test::build_dir() / "share/plugin_host/run_plugin.py";
  options.call_s = options.start_s = 100;
  options.log = [lines](std::string_view, LogLevel, std::string_view line) {
    if (lines) lines->add(line);
  };
  return options;
}

inline Result<std::shared_ptr<const HostedPlugin>> host(const std::filesystem::path& path,
                                                        PluginHostOptions options) {
  return HostedPlugin::start(path, std::move(options), std::make_shared<HostStarter>());
}

/// A reward of a plugin host, with its configuration.
inline Result<std::unique_ptr<Reward>> reward_of(const std::shared_ptr<const HostedPlugin>& plugin,
                                                 const Value& config = Value::map()) {
  HONE_ASSIGN(auto calls, plugin->create_reward(config));
  return std::make_unique<Reward>(plugin->name(), config, std::move(calls));
}

/// An episode of correct turns with these speedups; 0: an unscored turn.
inline Value episode(const std::vector<double>& speedups) {
  Value turns = Value::array();
  for (const double speedup : speedups) {
    const Value verdict = Value::map(
        {{"outcome", "correct"},
         {"stage", "done"},
         {"speedup", Value::map({{"value", speedup}, {"low", speedup}, {"high", speedup}})}});
    const bool scored = speedup > 0;
    turns.push(Value::map({{"turn", turns.is_array() ? turns.as_array().size() : 0},
                           {"scored", scored},
                           {"verdict", scored ? verdict : Value()}}));
  }
  return Value::map(
      {{"task", Value::map()}, {"ended", false}, {"max_turns", 4}, {"turns", std::move(turns)}});
}

inline std::string message_of(const Result<RewardReport>& report) {
  return report ? "(succeeded)" : report.error().message;
}

}  // namespace hone::test
