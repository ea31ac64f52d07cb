// Starts a plugin host, sends calls to it, and restarts it.
#include "plugin_host/hosted_plugin.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "hone/backend.h"
#include "hone/dataset.h"
#include "hone/reward.h"
#include "model/fields.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr double kDescribeSecondsMax = 3600;  // as plugins.start_seconds
constexpr int kFailuresFree = 3;  // failures in a row without a pause before the next start
constexpr double kPauseMaxS = 60;

/// Searches PATH, because the plugin host's PATH differs from the user's.
Result<std::string> find_interpreter(const std::string& python) {
  const auto usable = [](const std::string& path) { return access(path.c_str(), X_OK) == 0; };
  if (python.find('/') != std::string::npos) {
    if (usable(python)) return python;
    return failed_precondition("plugins.python: found no interpreter at " + python);
  }
  const char* variable = std::getenv("PATH");
  std::string folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    const std::string path = folders.substr(start, end - start) + "/" + python;
    if (end > start && usable(path)) return path;
    start = end + 1;
  }
  return failed_precondition("plugins.python: found no '" + python +
                             "' in PATH, expected Python 3.10 or newer");
}

/// A reward's calls in a plugin host.
class HostedReward final : public RewardCalls {
 public:
  HostedReward(std::shared_ptr<const HostedPlugin> plugin,
               std::shared_ptr<HostedPlugin::Handle> handle)
      : plugin_(std::move(plugin)), handle_(std::move(handle)) {}
  ~HostedReward() override { plugin_->release(*handle_); }
  HostedReward(const HostedReward&) = delete;
  HostedReward& operator=(const HostedReward&) = delete;

  Result<Value> score(const Value& episode) const override {
    return plugin_->call(*handle_, "score", episode);
  }
  std::string version() const override { return plugin_->version(); }

 private:
  const std::shared_ptr<const HostedPlugin> plugin_;
  const std::shared_ptr<HostedPlugin::Handle> handle_;
};

/// A dataset's calls in a plugin host.
class HostedDataset final : public DatasetCalls {
 public:
  HostedDataset(std::shared_ptr<const HostedPlugin> plugin,
                std::shared_ptr<HostedPlugin::Handle> handle)
      : plugin_(std::move(plugin)), handle_(std::move(handle)) {}
  ~HostedDataset() override { plugin_->release(*handle_); }
  HostedDataset(const HostedDataset&) = delete;
  HostedDataset& operator=(const HostedDataset&) = delete;

  Result<Value> list() const override { return plugin_->call(*handle_, "list", Value()); }
  Result<Value> get(const std::string& id) const override {
    return plugin_->call(*handle_, "get", Value(id));
  }

 private:
  const std::shared_ptr<const HostedPlugin> plugin_;
  const std::shared_ptr<HostedPlugin::Handle> handle_;
};

/// An environment's calls in a plugin host.
class HostedEnvironment final : public EnvironmentCalls {
 public:
  HostedEnvironment(std::shared_ptr<const HostedPlugin> plugin,
                    std::shared_ptr<HostedPlugin::Handle> handle)
      : plugin_(std::move(plugin)), handle_(std::move(handle)) {}
  ~HostedEnvironment() override { plugin_->release(*handle_); }
  HostedEnvironment(const HostedEnvironment&) = delete;
  HostedEnvironment& operator=(const HostedEnvironment&) = delete;

  Result<Value> ask(std::string_view call, const Value& argument) const override {
    return plugin_->call(*handle_, call, argument);
  }

 private:
  const std::shared_ptr<const HostedPlugin> plugin_;
  const std::shared_ptr<HostedPlugin::Handle> handle_;
};

/// The limit of a dataset's `get`. A dataset with `describe_seconds` in its configuration ends a
/// description itself; it gets that time and 10 s more to report that.
double get_seconds(const Value& config, double start_s) {
  constexpr double kToSaySo = 10;
  const Value* own = config.is_map() ? config.find("describe_seconds") : nullptr;
  if (own == nullptr || !own->is_number()) return start_s;
  return std::max(start_s, std::min(own->as_double(), kDescribeSecondsMax) + kToSaySo);
}

}  // namespace

HostedPlugin::HostedPlugin(fs::path path, PluginHostOptions options,
                           std::shared_ptr<HostStarter> starter)
    : path_(std::move(path)),
      language_(path_.extension() == ".py" ? HostLanguage::kPython : HostLanguage::kLibrary),
      options_(std::move(options)),
      starter_(std::move(starter)) {}

Result<std::shared_ptr<const HostedPlugin>> HostedPlugin::start(
    const fs::path& path, PluginHostOptions options, std::shared_ptr<HostStarter> starter) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path).lexically_normal();
  if (!fs::is_regular_file(absolute, ignored)) {
    return not_found(absolute.filename().string() + ": no such file: " + absolute.string());
  }
  std::shared_ptr<HostedPlugin> plugin(
      new HostedPlugin(absolute, std::move(options), std::move(starter)));
  MutexLock lock(plugin->mutex_);
  HONE_TRY(plugin->ensure_process("hello"));
  return std::shared_ptr<const HostedPlugin>(std::move(plugin));
}

std::string HostedPlugin::name() const {
  MutexLock lock(identity_mutex_);
  return identity_.name;
}

std::string HostedPlugin::version() const {
  MutexLock lock(identity_mutex_);
  return identity_.version;
}

std::string HostedPlugin::runs_in() const {
  MutexLock lock(identity_mutex_);
  return identity_.runs_in;
}

std::vector<std::string> HostedPlugin::factories() const {
  MutexLock lock(identity_mutex_);
  std::vector<std::string> ids;
  for (const std::string& kind : identity_.kinds) {
    ids.emplace_back(kind == "reward"        ? HONE_REWARD_FACTORY_ID
                     : kind == "dataset"     ? HONE_DATASET_FACTORY_ID
                     : kind == "environment" ? kEnvironmentFactoryId
                                             : HONE_BACKEND_FACTORY_ID);
  }
  return ids;
}

Result<Value> HostedPlugin::describe(const std::string& factory_id) const {
  MutexLock lock(mutex_);
  HONE_TRY(ensure_process("describe"));
  return ask({.name = "describe",
              .kind = factory_id == HONE_DATASET_FACTORY_ID ? "dataset"
                      : factory_id == kEnvironmentFactoryId ? "environment"
                                                            : "reward"},
             options_.call_s);
}

Result<std::unique_ptr<const RewardCalls>> HostedPlugin::create_reward(const Value& config) const {
  HONE_ASSIGN(auto handle, make("reward", config));
  return std::unique_ptr<const RewardCalls>(
      std::make_unique<HostedReward>(shared_from_this(), std::move(handle)));
}

Result<std::unique_ptr<const DatasetCalls>> HostedPlugin::open_dataset(const Value& config) const {
  HONE_ASSIGN(auto handle, make("dataset", config));
  return std::unique_ptr<const DatasetCalls>(
      std::make_unique<HostedDataset>(shared_from_this(), std::move(handle)));
}

Result<std::unique_ptr<const EnvironmentCalls>> HostedPlugin::open_environment() const {
  HONE_ASSIGN(auto handle, make("environment", Value::map()));
  return std::unique_ptr<const EnvironmentCalls>(
      std::make_unique<HostedEnvironment>(shared_from_this(), std::move(handle)));
}

Result<std::shared_ptr<HostedPlugin::Handle>> HostedPlugin::make(std::string kind,
                                                                 const Value& config) const {
  auto handle = std::make_shared<Handle>();
  handle->kind = std::move(kind);
  handle->config = config;
  MutexLock lock(mutex_);
  handle->number = next_handle_++;
  HONE_TRY(ensure_process(handle->kind == "reward" ? "create" : "open"));
  HONE_TRY(ensure_handle(*handle));
  return handle;
}

Result<Value> HostedPlugin::call(Handle& handle, std::string_view name,
                                 const Value& argument) const {
  MutexLock lock(mutex_);
  HONE_TRY(ensure_process(name));
  HONE_TRY(ensure_handle(handle));
  // A dataset may import large libraries to read or describe its tasks.
  const double limit_s =
      name == "get" ? get_seconds(handle.config, options_.start_s) : options_.call_s;
  auto answer = ask({name, handle.kind, handle.number, &argument}, limit_s);
  if (process_) failures_ = 0;
  return answer;
}

void HostedPlugin::release(Handle& handle) const {
  MutexLock lock(mutex_);
  if (!process_ || handle.process != process_number_) return;
  (void)ask({"destroy", handle.kind, handle.number}, options_.call_s);  // ask() logs what ends it
}

pid_t HostedPlugin::pid() const {
  MutexLock lock(mutex_);
  return process_ ? process_->pid() : -1;
}

void HostedPlugin::restart() const {
  MutexLock lock(mutex_);
  process_.reset();
}

double HostedPlugin::now_s() const { return options_.now_s ? options_.now_s() : monotonic_s(); }

/// The plugin's name; the file's name until the plugin has reported its own.
std::string HostedPlugin::who() const {
  const std::string known = name();
  return known.empty() ? path_.filename().string() : known;
}

Result<std::vector<std::string>> HostedPlugin::arguments() const {
  std::vector<std::string> list{options_.program.string(), std::to_string(getpid()),
                                std::to_string(options_.memory_mb)};
  if (language_ == HostLanguage::kPython) {
    HONE_ASSIGN(const std::string python, find_interpreter(options_.python));
    for (const std::string& word :
         {std::string("python"), python, options_.runner.string(), path_.string()}) {
      list.push_back(word);
    }
  } else {
    list.insert(list.end(), {"library", path_.string(), options_.workdir});
  }
  return list;
}

/// `call`: the reason for the start, for error messages.
Status HostedPlugin::ensure_process(std::string_view call) const {
  if (options_.reload && file_version(path_) != started_from_) {
    if (process_) log_info(who(), "the file has changed; loading it again");
    process_.reset();
    failures_ = 0;
  }
  if (process_) return {};
  if (failures_ >= kFailuresFree && now_s() < not_before_s_) {
    return unavailable(who() + ": " + std::string(call) + ": its plugin host ended " +
                       std::to_string(failures_) + " times in a row; it restarts in " +
                       std::to_string(std::lround(std::ceil(not_before_s_ - now_s()))) + " s");
  }
  return start_process();
}

Status HostedPlugin::start_process() const {
  started_from_ = file_version(path_);
  HONE_ASSIGN(const std::vector<std::string> words, arguments());
  const auto say = options_.log;
  const std::string plugin = who();
  HONE_ASSIGN(process_, HostProcess::start(*starter_, language_, words,
                                           [say, plugin](LogLevel level, std::string_view line) {
                                             say ? say(plugin, level, line)
                                                 : log(level, plugin, line);
                                           }));
  ++process_number_;
  auto hello = ask({.name = "hello"}, options_.start_s);
  Status known = hello ? read_identity(*hello) : Status(hello.error());
  if (known || !process_) return known;
  process_.reset();
  note_failure();
  return known;
}

Status HostedPlugin::ensure_handle(Handle& handle) const {
  if (handle.process == process_number_) return {};
  const bool reward = handle.kind == "reward";
  HONE_TRY(ask({reward ? "create" : "open", handle.kind, handle.number, &handle.config},
               options_.start_s));
  handle.process = process_number_;
  return {};
}

/// Sends one request. If the process ends, the error names plugin and call, and it is logged and counted.
Result<Value> HostedPlugin::ask(const HostCall& call, double limit_s) const {
  auto answer = process_->ask(call, who() + ": " + std::string(call.name), limit_s);
  const bool exhausted = !answer && answer.error().code == Code::kResourceExhausted;
  if (process_->alive() && !exhausted) return answer;
  process_.reset();
  note_failure();
  // Leaked memory is freed only with the process.
  if (exhausted) {
    answer = Error{Code::kResourceExhausted,
                   answer.error().message + "; its plugin host was ended, which may have " +
                       std::to_string(options_.memory_mb) + " MB (plugins.memory_mb)"};
  }
  log_error("plugin host", answer.error().message);
  if (answer.error().cause == ErrorCause::kPluginEnded && call.name == "get") {
    Error error = answer.error();
    error.cause = ErrorCause::kTaskEndedPlugin;
    return error;
  }
  return answer;
}

void HostedPlugin::note_failure() const {
  ++failures_;
  const int paused = std::min(failures_ - kFailuresFree, 10);
  if (paused >= 0) not_before_s_ = now_s() + std::min(std::ldexp(1.0, paused), kPauseMaxS);
}

Status HostedPlugin::read_identity(const Value& hello) const {
  Fields f(hello, who() + ": hello");
  Identity found;
  found.name = f.text("name", 128);
  found.version = f.text("version", 128);
  found.kinds = f.texts_or("kinds", {});
  const std::string runs_in = f.text_or("runs_in", "", 128);
  found.runs_in = runs_in.empty() ? "plugin host" : "plugin host, " + runs_in;
  HONE_TRY(f.finish());
  MutexLock lock(identity_mutex_);
  identity_ = std::move(found);
  return {};
}

StartPluginProcess open_in_plugin_hosts(PluginHostOptions options) {
  const auto starter = std::make_shared<HostStarter>();
  return [options = std::move(options),
          starter](const fs::path& path) -> Result<std::shared_ptr<const PluginProcess>> {
    HONE_ASSIGN(auto plugin, HostedPlugin::start(path, options, starter));
    return std::shared_ptr<const PluginProcess>(std::move(plugin));
  };
}

PluginHostOptions installed_plugin_host() {
  PluginHostOptions options;
  options.program = install_root() / "libexec/hone-plugin-host";
  options.runner = install_root() / "share/plugin_host/run_plugin.py";
  return options;
}

}  // namespace hone
