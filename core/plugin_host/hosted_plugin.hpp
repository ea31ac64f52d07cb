// HostedPlugin: a plugin from outside the tree in its own process, which restarts after it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "plugin/plugin_process.hpp"
#include "plugin_host/host_process.hpp"
#include "plugin_host/starter.hpp"

namespace hone {

struct PluginHostOptions {
  std::filesystem::path program;   ///< path of hone-plugin-host
  std::filesystem::path runner;    ///< path of run_plugin.py
  std::string python = "python3";  ///< path of an interpreter, or a name in $PATH
  double call_s = 10;              ///< time limit of score() and list()
  double start_s = 60;             ///< time limit of loading a plugin, create(), open() and get()
  std::int64_t memory_mb = 4096;   ///< memory limit of one plugin host; 0: none
  bool reload = false;             ///< restart when the file has changed
  std::string workdir = {};        ///< each library gets its own folder in there; empty: none
  /// Receives the lines of plugins; if not set, they go to hone's log.
  std::function<void(std::string_view plugin, LogLevel level, std::string_view line)> log = {};
  /// The clock for pauses after crashes (s); if not set, the monotonic clock.
  std::function<double()> now_s = {};
};

/// Calls of one plugin run one after another. After a crash, a hang or garbage the next call starts
/// the process again; after three in a row, only once a pause is over, which doubles from 1 s to
/// 60 s, and calls until then are refused with `unavailable`. [any thread]
///
///   HONE_ASSIGN(auto plugin, HostedPlugin::start("my_reward.py", options, starter));
///   HONE_ASSIGN(auto calls, plugin->create_reward(Value::map({{"bonus", 2}})));
class HostedPlugin final : public PluginProcess, public std::enable_shared_from_this<HostedPlugin> {
 public:
  /// An error has the reason why the plugin cannot be used, such as a crash during loading.
  static Result<std::shared_ptr<const HostedPlugin>> start(const std::filesystem::path& path,
                                                           PluginHostOptions options,
                                                           std::shared_ptr<HostStarter> starter);

  std::string name() const override;
  std::string version() const override;
  std::vector<std::string> factories() const override;
  std::string runs_in() const override;
  Result<Value> describe(const std::string& factory_id) const override;
  Result<std::unique_ptr<const RewardCalls>> create_reward(const Value& config) const override;
  Result<std::unique_ptr<const DatasetCalls>> open_dataset(const Value& config) const override;
  Result<std::unique_ptr<const EnvironmentCalls>> open_environment() const override;

  /// A handle of the plugin; a new process creates it again.
  struct Handle {
    std::string kind;  ///< "reward", "dataset" or "environment"
    Value config;
    std::int64_t number = 0;
    std::uint64_t process = 0;  ///< the process that has this handle; guarded by the plugin
  };
  Result<std::shared_ptr<Handle>> make(std::string kind, const Value& config) const;
  Result<Value> call(Handle& handle, std::string_view name, const Value& argument) const;
  void release(Handle& handle) const;

  /// Process id, for tests; -1: no process.
  pid_t pid() const;
  /// Ends the process between calls; the next one starts another.
  void restart() const;

 private:
  struct Identity {
    std::string name, version, runs_in;
    std::vector<std::string> kinds;
  };

  HostedPlugin(std::filesystem::path path, PluginHostOptions options,
               std::shared_ptr<HostStarter> starter);
  double now_s() const;
  std::string who() const;
  Result<std::vector<std::string>> arguments() const;
  Status ensure_process(std::string_view call) const HONE_REQUIRES(mutex_);
  Status start_process() const HONE_REQUIRES(mutex_);
  Status ensure_handle(Handle& handle) const HONE_REQUIRES(mutex_);
  Result<Value> ask(const HostCall& call, double limit_s) const HONE_REQUIRES(mutex_);
  Status read_identity(const Value& hello) const;
  void note_failure() const HONE_REQUIRES(mutex_);

  const std::filesystem::path path_;
  const HostLanguage language_;
  const PluginHostOptions options_;
  const std::shared_ptr<HostStarter> starter_;
  mutable Mutex mutex_;  // held through a call
  mutable std::unique_ptr<HostProcess> process_ HONE_GUARDED_BY(mutex_);
  mutable std::uint64_t process_number_ HONE_GUARDED_BY(mutex_) = 0;
  mutable std::int64_t next_handle_ HONE_GUARDED_BY(mutex_) = 1;
  mutable std::string started_from_ HONE_GUARDED_BY(mutex_);  // file_version() of the plugin
  mutable int failures_ HONE_GUARDED_BY(mutex_) = 0;          // in a row
  mutable double not_before_s_ HONE_GUARDED_BY(mutex_) = 0;
  mutable Mutex identity_mutex_;
  mutable Identity identity_ HONE_GUARDED_BY(identity_mutex_);
};

/// The function with which a Registry starts plugins in their own processes.
StartPluginProcess open_in_plugin_hosts(PluginHostOptions options);

/// The options for this installation's programs: libexec/hone-plugin-host, share/plugin_host.
PluginHostOptions installed_plugin_host();

}  // namespace hone
