// Config: all settings with their defaults, as plain structs that are read strictly from YAML.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/backend_description.hpp"
#include "model/examination.hpp"
#include "model/value.hpp"

namespace hone {

// The unit is the last part of a name. core/config/schema.cpp has the range and the description of each key.

struct LimitsConfig {
  std::int64_t frame_bytes = 4 << 20;     ///< limit of one frame
  std::int64_t message_bytes = 16 << 20;  ///< limit of all frames of a message
  std::int64_t frames = 16;               ///< per message
  std::int64_t source_bytes = 256 << 10;  ///< limit of a submission
  std::int64_t in_flight = 4096;          ///< requests of one connection
  std::int64_t episodes = 200'000;        ///< stored episodes of all clients
  // Limits of one client. Its entry in the allow-list overrides them.
  std::int64_t client_episodes = 100'000;  ///< open episodes
  std::int64_t client_evaluations = 1024;  ///< steps in flight
  std::int64_t client_bytes = 16LL << 30;  ///< memory of its stored turns
};

struct ServerConfig {
  std::string endpoint = "tcp://127.0.0.1:5917";
  std::string control = "tcp://127.0.0.1:5918";  ///< empty: none
  std::string
      keys;  ///< folder of keys for CURVE on both endpoints; empty: no keys, and only loopback
  double lease_s = 900;        ///< idle time after which an episode is closed
  double ended_lease_s = 120;  ///< the same, after the last turn
  double heartbeat_s = 10;     ///< interval of the clients' pings
  double drain_s =
      20;  ///< wait of a graceful shutdown for running steps; clients wait this time and 30 s
  double disconnect_grace_s = 5;  ///< time after which steps of a lost connection are cancelled
  LimitsConfig limits;
};

/// Defaults of an episode. A reset may change them.
struct EnvironmentConfig {
  std::string name = "kernel_refine";
  std::string split = "train";  ///< of a reset that names neither task nor split
  std::int64_t max_turns = 4;
  std::optional<double> stop_speedup;  ///< a correct kernel with this speedup ends the episode
  std::optional<double> stop_reward;
  std::optional<double> seconds_max;  ///< time limit of an episode
  std::int64_t feedback_tokens = 600;
  std::string feedback_profile = "off";     ///< or "auto": feedback says where a kernel's time goes
  std::string prompt = "zero_shot";         ///< or "few_shot": with examples of other tasks
  std::string hardware;                     ///< description of the hardware in prompts; empty: none
  std::map<Tool, std::int64_t> tools;       ///< uses of each tool in an episode; 0 or missing: none
  std::map<Tool, std::int64_t> tool_turns;  ///< turns that a use of each tool costs; missing: none
  std::string templates;                    ///< folder of templates; empty: the shipped ones
};

/// The database of episodes.
struct JournalConfig {
  std::string path;             ///< empty: no journal; episodes end with the server
  double keep_days = 0;         ///< 0: no limit
  std::int64_t keep_bytes = 0;  ///< 0: no limit
};

struct DatasetConfig {
  std::string name = "tasks";
  std::string plugin = "tasks";  ///< a name, or the path of a library or a Python file
  /// Configuration of the plugin. A "path" is relative to the configuration file; "builtin" means the shipped tasks.
  Value config = Value::map({{"path", "builtin"}});
  bool unlisted = false;  ///< also serve tasks that the dataset does not list
};

struct RewardConfig {
  std::string name = "tritonforge";  ///< or the path of a library or a Python file
  Value config = Value::map();
};

struct CompilerConfig {
  std::string path = "auto";       ///< "auto": GCC, else clang
  std::vector<std::string> flags;  ///< optimisation and dialect; hone adds all others
};

/// Cores of one CPU device: one of the judge, and those of submissions.
struct DeviceConfig {
  std::int64_t judge_cpu = 0;
  std::vector<std::int64_t> cores{0};
};

struct CpuConfig {
  CompilerConfig cxx{"auto", {"-O3", "-march=native", "-std=c++20"}};
  CompilerConfig c{"auto", {"-O3", "-march=native", "-std=c17"}};
  std::string python;                 ///< interpreter with torch, for modules; empty: none
  std::vector<std::string> readable;  ///< more folders that compilers may read
  std::vector<DeviceConfig> devices;  ///< empty: chosen for the cores of this machine
};

/// Most modules that one device checks at a time. Each has a judge and two cores.
inline constexpr std::int64_t kModuleLanesMax = 8;

/// The section of a backend of device code: keys that hone reads, and those that the backend describes.
struct BackendConfig {
  BackendDescription description;
  /// A value for each of description.parameters, by name. Builds get them as options.
  Value options = Value::map();
  std::vector<std::int64_t> devices{0};    ///< empty: "all"
  std::string isolation = "client";        ///< submissions of a client share a process, or "fresh"
  std::string modules = "auto";            ///< how modules are judged: "plan", "process" or "auto"
  std::string module_isolation = "fresh";  ///< deprecated, no effect
  std::int64_t module_lanes =
      0;  ///< recorded plans checked at a time on a device; 0: by the number of cores
  std::int64_t uses = 200;  ///< submissions after which a shared process is replaced
  std::string library;      ///< another build of the backend; empty: the shipped one
  std::string python;       ///< interpreter of modules; empty: modules are rejected
};

struct MeasureConfig {
  double round_ms = 4;
  std::int64_t pairs_min = 7, pairs_max = 15;
  double seconds_max = 1.5;
  std::int64_t set_mb = 96;
  std::int64_t singles = 5;
};

struct EvaluateConfig {
  std::int64_t builders = 0;
  std::int64_t queue_max = 1024;
  std::int64_t client_max = 512;
  double build_seconds = 30;
  std::int64_t build_memory_mb = 2048;
  double evaluation_seconds = 120;
  std::int64_t cache_mb = 512;
  std::int64_t installed_max = 6;
  double suspect_speedup = 10;  ///< speedup from which a confirmation run must agree; 0: never
  double suspect_factor = 2;    ///< the same, as a ratio to the task's best speedup so far
  double max_interval =
      0.5;  ///< limit of the confidence interval relative to the speedup; 0: no limit
  MeasureConfig measure;
};

struct IsolationConfig {
  std::string minimum = "filtered";
  std::string maximum = "private";
  std::string freezer = "auto";
  std::string workdir;  ///< empty: the temporary folder of the system
  std::int64_t slots = 64;
  std::int64_t first_uid = 61000;
};

/// Processes that run plugins from outside the tree.
struct PluginHostConfig {
  bool in_process = false;         ///< run libraries in the process of hone
  std::string python = "python3";  ///< interpreter, for example of a virtual environment
  double call_seconds = 10;
  double start_seconds = 60;
  std::int64_t memory_mb = 4096;  ///< 0: no limit
  bool reload = false;
};

struct LogConfig {
  std::string level = "info";
  std::string format = "text";
  bool json = false;  ///< deprecated: format "json"
};

/// The process that serves metrics and health over HTTP.
struct WebConfig {
  std::string listen;  ///< PORT or HOST:PORT; empty: no such process
  std::string token_file, key;
};

struct Config {
  std::string backend = "cpu";  ///< hardware backend
  ServerConfig server;
  EnvironmentConfig environment;
  std::vector<DatasetConfig> datasets{DatasetConfig{}};
  bool open_held_out = false;  ///< serve tasks of the split held_out to all clients
  JournalConfig journal;
  RewardConfig reward;
  CpuConfig cpu;
  std::map<std::string, BackendConfig, std::less<>> backends;  ///< of device code, by name
  EvaluateConfig evaluate;
  IsolationConfig isolation;
  std::vector<std::string>
      plugin_paths;  ///< libraries and Python files, or folders of them, in addition to the shipped ones
  PluginHostConfig plugin_host;
  LogConfig log;
  WebConfig web;
};

/// Interpreters of modules by JSON pointer, one for each backend.
std::map<std::string, std::string*> interpreters_of(Config& config);

/// The backends that a configuration can name.
struct FoundBackends {
  std::vector<BackendDescription> described;
  std::vector<std::string> refused;  ///< for each other one, why
};
/// Finds them. `plugins`: a configuration of which only the section `plugins` has been read.
using FindBackends = std::function<FoundBackends(const Config& plugins)>;

/// A configuration with the source of each value.
struct LoadedConfig {
  Config config;
  /// By JSON pointer ("/server/lease_s"): "default", "hone.yaml:3" or "--set server.lease_s=5".
  std::map<std::string, std::string, std::less<>> origins;

  /// Source of a member, or of the first non-default value inside it: "hone.yaml:3"; empty if all are defaults.
  std::string place(std::string_view pointer) const;
};

/// Reads YAML text. Errors begin with `name` ("name:LINE: …"). Relative paths are relative to `folder`. `sets` are "key.key=value" from the command line, with the value in YAML; they take precedence. Unknown keys, wrong types and values out of range are invalid_argument. Each backend of device code that `find` describes has a section.
Result<LoadedConfig> parse_config(std::string_view text, std::string_view name,
                                  const std::filesystem::path& folder,
                                  const std::vector<std::string>& sets = {},
                                  const FindBackends& find = {});

/// Reads a file; an empty path means only the defaults. A path in plugins.paths, cpu.readable or
/// isolation.workdir that does not exist is invalid_argument. core/app/load_config.hpp finds the backends.
Result<LoadedConfig> load_config(const std::filesystem::path& path,
                                 const std::vector<std::string>& sets, const FindBackends& find);

/// The configuration as a map that parse_config accepts.
Value config_to_value(const Config& config);

/// One key of the configuration.
struct ConfigKey {
  std::string name;      ///< "server.lease_s"; "datasets[].name"
  std::string expected;  ///< "a number from 1 to 86400"
  std::string doc;
};
/// All keys, with those of the sections that `config` has.
std::vector<ConfigKey> config_keys(const Config& config);

}  // namespace hone
