// Config: everything that can be configured, as plain structs with their defaults, read strictly
// from YAML.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

// Units stand last in each name. core/config/schema.cpp has every key's range and its line of
// documentation.

struct LimitsConfig {
  std::int64_t frame_bytes = 4 << 20;     ///< of one frame of a message
  std::int64_t message_bytes = 16 << 20;  ///< of all frames together
  std::int64_t frames = 16;               ///< per message
  std::int64_t source_bytes = 256 << 10;  ///< of a submission
  std::int64_t in_flight = 4096;          ///< requests of one client
  std::int64_t episodes = 200'000;        ///< of all clients
  // Of one client; its entry in the allow-list may say otherwise.
  std::int64_t client_episodes = 100'000;  ///< open
  std::int64_t client_evaluations = 1024;  ///< under way
  std::int64_t client_bytes = 16LL << 30;  ///< of its turns, kept
};

struct ServerConfig {
  std::string endpoint = "tcp://127.0.0.1:5917";
  std::string control = "tcp://127.0.0.1:5918";  ///< empty: none
  std::string keys;  ///< folder of keys: CURVE on both endpoints; empty: none, and loopback alone
  double lease_s = 900;        ///< an idle episode is closed after this time
  double ended_lease_s = 120;  ///< the same after its last turn
  double heartbeat_s = 10;     ///< how often clients are asked to ping
  double drain_s = 20;         ///< how long a graceful shutdown waits for steps; clients wait 30 s
  double disconnect_grace_s = 5;  ///< steps of a lost connection go on for this long
  LimitsConfig limits;
};

/// Defaults of an episode, which a reset may change.
struct EnvironmentConfig {
  std::string name = "kernel_refine";
  std::string split = "train";  ///< drawn from when a reset names neither task nor split
  std::int64_t max_turns = 4;
  std::optional<double> stop_speedup;  ///< correct and at least so fast ends the episode
  std::optional<double> stop_reward;
  std::optional<double> seconds_max;  ///< of an episode
  std::int64_t feedback_tokens = 600;
  std::string prompt = "zero_shot";  ///< or "few_shot": examples of other tasks come first
  std::string hardware;              ///< what prompts say of the machine; empty: nothing
  std::string templates;             ///< folder of one's own templates; empty: those shipped
};

/// Where episodes are recorded.
struct JournalConfig {
  std::string path;             ///< empty: nowhere; they end with the server
  double keep_days = 0;         ///< 0: for ever
  std::int64_t keep_bytes = 0;  ///< 0: without limit
};

struct DatasetConfig {
  std::string name = "tasks";
  std::string plugin = "tasks";  ///< a name, or the path of a library or a Python file
  /// The plugin's own. A "path" is relative to the file it stands in; "builtin" means what hone
  /// ships.
  Value config = Value::map({{"path", "builtin"}});
  bool unlisted = false;  ///< tasks that it does not list may be asked for by their ids
};

struct RewardConfig {
  std::string name = "tritonforge";  ///< or the path of a library or a Python file
  Value config = Value::map();
};

struct CompilerConfig {
  std::string path = "auto";       ///< "auto": the first of gcc's and clang's that is installed
  std::vector<std::string> flags;  ///< optimisation and dialect; the rest is hone's
};

/// Cores of one device: the judge's own, and those that submissions run on.
struct DeviceConfig {
  std::int64_t judge_cpu = 0;
  std::vector<std::int64_t> cores{0};
};

struct CpuConfig {
  CompilerConfig cxx{"auto", {"-O3", "-march=native", "-std=c++20"}};
  CompilerConfig c{"auto", {"-O3", "-march=native", "-std=c17"}};
  std::string python;                 ///< the interpreter of modules, with torch; empty: none
  std::vector<std::string> readable;  ///< further folders that compilers need
  std::vector<DeviceConfig> devices;  ///< empty: from the cores that this machine has
};

/// A backend of GPUs.
/// Of a device, that each have a judge and two cores.
inline constexpr std::int64_t kModuleLanesMax = 8;

struct GpuConfig {
  std::string compiler = "auto";     ///< the runtime compiler's library (or clang, for hip)
  std::string architecture;          ///< "sm_90"; empty: the first device's
  std::vector<std::string> flags;    ///< of the compiler
  std::vector<std::string> include;  ///< folders of headers; empty: the toolkit's
  std::vector<std::int64_t> devices{0};
  std::string isolation = "client";  ///< whose submissions share a process: a client's, or nobody's
  std::string module_isolation = "fresh";  ///< whose modules do: an episode's, a client's, nobody's
  std::int64_t module_lanes =
      0;  ///< modules that a device has at a time, of which one is measured; 0: by the cores
  std::int64_t uses = 200;  ///< submissions before such a process is replaced
  std::string library;      ///< another build of the backend; empty: what hone ships
  std::string python;       ///< the interpreter of modules; empty: none are taken
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
  std::int64_t cache_mb = 64;
  std::int64_t installed_max = 6;
  double suspect_speedup = 10;  ///< a winner so fast is judged twice; 0: none for that
  double suspect_factor = 2;    ///< likewise, times the best of its task so far
  double max_interval = 0.5;    ///< widest interval of a speedup, relative to it; 0: any
  MeasureConfig measure;
};

struct IsolationConfig {
  std::string minimum = "filtered";
  std::string maximum = "private";
  std::string freezer = "auto";
  std::string workdir;  ///< empty: the system's folder for temporary files
  std::int64_t slots = 64;
  std::int64_t first_uid = 61000;
};

/// Of the processes that run plugins from outside the tree.
struct PluginHostConfig {
  bool in_process = false;         ///< libraries run in hone itself
  std::string python = "python3";  ///< an interpreter: of a virtual environment, say
  double call_seconds = 10;
  double start_seconds = 60;
  std::int64_t memory_mb = 4096;  ///< 0: no limit
  bool reload = false;
};

struct LogConfig {
  std::string level = "info";
  bool json = false;
};

struct Config {
  std::string backend = "cpu";  ///< what evaluates: the one-line switch
  ServerConfig server;
  EnvironmentConfig environment;
  std::vector<DatasetConfig> datasets{DatasetConfig{}};
  bool open_held_out = false;  ///< serve tasks of split held_out, to everybody
  JournalConfig journal;
  RewardConfig reward;
  CpuConfig cpu;
  GpuConfig cuda, hip;
  EvaluateConfig evaluate;
  IsolationConfig isolation;
  std::vector<std::string>
      plugin_paths;  ///< libraries and Python files, or folders of them, besides what hone ships
  PluginHostConfig plugin_host;
  LogConfig log;
};

/// The interpreters of modules, one for each backend, by JSON pointer.
inline std::map<std::string, std::string*> interpreters_of(Config& config) {
  return {{"/cpu/python", &config.cpu.python},
          {"/cuda/python", &config.cuda.python},
          {"/hip/python", &config.hip.python}};
}

/// A configuration and where each of its values came from.
struct LoadedConfig {
  Config config;
  /// By JSON pointer ("/server/lease_s"): "default", "hone.yaml:3" or "--set server.lease_s=5".
  std::map<std::string, std::string, std::less<>> origins;

  /// Where a member, or the first inside it that is not a default, was said: "hone.yaml:3"; empty
  /// where nobody said it.
  std::string place(std::string_view pointer) const;
};

/// Reads YAML text. `name` stands in errors ("name:LINE: …"); relative paths are taken from
/// `folder`. `sets` are "key.key=value" from the command line, the value in YAML; they win. Unknown
/// keys, wrong types and ranges are invalid_argument.
Result<LoadedConfig> parse_config(std::string_view text, std::string_view name,
                                  const std::filesystem::path& folder,
                                  const std::vector<std::string>& sets = {});

/// Reads a file; an empty path means the defaults alone. A path in plugins.paths, cpu.readable or
/// isolation.workdir that does not exist is invalid_argument.
///
///   HONE_ASSIGN(const LoadedConfig loaded, load_config("configs/laptop.yaml",
///   {"server.drain_s=5"}));
Result<LoadedConfig> load_config(const std::filesystem::path& path,
                                 const std::vector<std::string>& sets = {});

/// The whole configuration as a map that parse_config accepts.
Value config_to_value(const Config& config);

/// What may be configured.
struct ConfigKey {
  std::string name;      ///< "server.lease_s"; "datasets[].name"
  std::string expected;  ///< "a number from 1 to 86400"
  std::string doc;
};
std::vector<ConfigKey> config_keys();

}  // namespace hone
