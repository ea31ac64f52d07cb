// All keys of the configuration, with their ranges and descriptions.
#include "config/schema.hpp"

namespace hone {
namespace {

constexpr double kDay = 86400;

void walk_limits(LimitsConfig& c, SchemaVisitor& v) {
  v.integer("frame_bytes", c.frame_bytes, {1024, 1 << 30}, "limit of one frame (bytes)");
  v.integer("message_bytes", c.message_bytes, {1024, 1 << 30},
            "limit of one message with all its frames (bytes)");
  v.integer("frames", c.frames, {4, 1024}, "limit of frames in a message");
  v.integer("source_bytes", c.source_bytes, {64, 64 << 20},
            "limit of one submission's source (bytes)");
  v.integer("in_flight", c.in_flight, {1, 1 << 20},
            "limit of requests in flight on one connection");
  v.integer("episodes", c.episodes, {1, 10'000'000}, "limit of stored episodes of all clients");
  v.integer("client_episodes", c.client_episodes, {1, 10'000'000},
            "limit of open episodes of one client (default for its entry in clients.yaml)");
  v.integer("client_evaluations", c.client_evaluations, {1, 1 << 20},
            "limit of steps in flight of one client (default for its entry)");
  v.integer("client_bytes", c.client_bytes, {1024, 1LL << 50},
            "limit of stored turns of one client (bytes; default for its entry)");
}

void walk_server(ServerConfig& c, SchemaVisitor& v) {
  v.text("endpoint", c.endpoint,
         "endpoint for trainers: tcp://HOST:PORT or ipc:///path; beyond loopback only with keys");
  v.text("control", c.control, "endpoint for cancel, metrics and health; empty: none");
  v.text("keys", c.keys,
         "folder of keys (hone keys new NAME) for CURVE on both endpoints; empty: none");
  v.number("lease_s", c.lease_s, {1, kDay}, "idle time after which an episode is closed (s)");
  v.number("ended_lease_s", c.ended_lease_s, {1, kDay},
           "time for which the replies of an ended episode are kept (s)");
  v.number("heartbeat_s", c.heartbeat_s, {0.1, 3600}, "interval at which clients send a ping (s)");
  v.number("drain_s", c.drain_s, {0, 3600},
           "time for which a shutdown waits for running steps (s)");
  v.number("disconnect_grace_s", c.disconnect_grace_s, {0, kDay},
           "time after which steps of a lost connection are cancelled (s)");
  v.group("limits", [&c](SchemaVisitor& inner) { walk_limits(c.limits, inner); });
}

/// A number for each tool. `before` and `after`: the documentation around a tool's name.
void walk_tools(SchemaVisitor& v, const char* group, std::map<Tool, std::int64_t>& numbers,
                const char* before, const char* after) {
  v.group(group, [&](SchemaVisitor& inner) {
    for (std::size_t i = 0; i < std::size(EnumNames<Tool>::kNames); ++i) {
      const auto tool = static_cast<Tool>(i);
      inner.integer(enum_name(tool), numbers[tool], {0, 1000},
                    before + std::string(enum_name(tool)) + after);
    }
  });
}

void walk_environment(EnvironmentConfig& c, SchemaVisitor& v) {
  v.text("name", c.name,
         "environment of the episodes: kernel_refine, autotune, or name or .py of a plugin");
  v.text("split", c.split, "split from which a reset without a task draws");
  v.integer("max_turns", c.max_turns, {1, 1000}, "limit of turns in an episode");
  v.number_or_nil("stop_speedup", c.stop_speedup, {0, 1e6},
                  "speedup of a correct kernel that ends the episode");
  v.number_or_nil("stop_reward", c.stop_reward, {-1e9, 1e9}, "reward that ends the episode");
  v.number_or_nil("seconds_max", c.seconds_max, {0.1, 30 * kDay}, "time limit of an episode (s)");
  v.integer("feedback_tokens", c.feedback_tokens, {64, 65536},
            "limit of the feedback after a turn (tokens)");
  v.choice("feedback_profile", c.feedback_profile, {"off", "auto"},
           "auto: feedback on a timed kernel says where its time goes");
  v.choice("prompt", c.prompt, {"zero_shot", "few_shot"},
           "form of the prompt: only the task, or with examples of other tasks");
  v.text("hardware", c.hardware, "description of the hardware in prompts; empty: none");
  walk_tools(v, "tools", c.tools, "uses of the tool ", " in an episode");
  walk_tools(v, "tool_turns", c.tool_turns, "turns that a use of the tool ", " costs");
  v.text("templates", c.templates,
         "folder of templates that replace the shipped ones (docs/prompts.md)");
}

void walk_compiler(CompilerConfig& c, SchemaVisitor& v) {
  v.text("path", c.path, "absolute path of the compiler, or auto (GCC, else clang)");
  v.texts("flags", c.flags, "flags for optimisation and dialect; hone adds all others");
}

void walk_cpu(CpuConfig& c, SchemaVisitor& v) {
  v.group("c++", [&c](SchemaVisitor& inner) { walk_compiler(c.cxx, inner); });
  v.group("c", [&c](SchemaVisitor& inner) { walk_compiler(c.c, inner); });
  v.text("python", c.python,
         "Python interpreter for PyTorch and Triton modules; empty: modules are rejected");
  v.texts("readable", c.readable, "more folders that the compilers may read");
  v.list(
      "devices", c.devices.size(), [&c](std::size_t n) { c.devices.assign(n, {}); },
      [&c](std::size_t i, SchemaVisitor& inner) {
        inner.integer("judge_cpu", c.devices[i].judge_cpu, {0, 4095}, "core of the judge");
        inner.integers("cores", c.devices[i].cores, {0, 4095}, "cores of the submission");
      },
      "sets of cores, each of which measures independently; empty: chosen for this machine");
}

void walk_parameter(const BackendParameter& p, Value& value, SchemaVisitor& v) {
  const SchemaVisitor::Range range{p.low, p.high};
  if (p.type == ParameterType::kText) {
    std::string text = value.as_string();
    p.choices.empty() ? v.text(p.name, text, p.doc) : v.choice(p.name, text, p.choices, p.doc);
    value = std::move(text);
  } else if (p.type == ParameterType::kInteger) {
    std::int64_t integer = value.as_int();
    v.integer(p.name, integer, range, p.doc);
    value = integer;
  } else if (p.type == ParameterType::kNumber) {
    double number = value.as_double();
    v.number(p.name, number, range, p.doc);
    value = number;
  } else if (p.type == ParameterType::kFlag) {
    bool flag = value.as_bool();
    v.flag(p.name, flag, p.doc);
    value = flag;
  } else {
    std::vector<std::string> texts;
    for (const Value& item : value.as_array()) texts.push_back(item.as_string());
    v.texts(p.name, texts, p.doc);
    value = Value::Array(texts.begin(), texts.end());
  }
}

void walk_backend(BackendConfig& c, SchemaVisitor& v) {
  for (const BackendParameter& parameter : c.description.parameters) {
    Value value = *c.options.find(parameter.name);
    walk_parameter(parameter, value, v);
    c.options.set(parameter.name, std::move(value));
  }
  v.integers_or_all("devices", c.devices, {0, 1023},
                    "numbers of the devices that evaluate; same name and driver");
  v.choice("isolation", c.isolation, {"client", "fresh"},
           "process of a submission: shared by one client's submissions, or fresh for each");
  v.choice("modules", c.modules, {"process", "plan", "auto"},
           "modules run in processes of their own, as recorded plans, or as plans where possible");
  v.choice("module_isolation", c.module_isolation, {"fresh", "episode", "client"},
           "deprecated, no effect: the process of a module serves one submission");
  v.integer(
      "module_lanes", c.module_lanes, {0, kModuleLanesMax},
      "recorded plans that are checked at a time; one of them is timed; 0: by the number of cores");
  v.integer("uses", c.uses, {1, 1'000'000},
            "number of submissions after which a shared process is replaced");
  v.text("python", c.python,
         "Python interpreter for PyTorch and Triton modules; empty: modules are rejected");
  v.text("library", c.library,
         "path of another build of the backend's library; empty: the shipped one");
}

void walk_measure(MeasureConfig& c, SchemaVisitor& v) {
  v.number("round_ms", c.round_ms, {0.1, 1000}, "target duration of one timed round (ms)");
  v.integer("pairs_min", c.pairs_min, {3, 1000},
            "minimum number of pairs of rounds; three quarters of it for modules on a device");
  v.integer("pairs_max", c.pairs_max, {3, 1000},
            "maximum number of pairs of rounds; three quarters of it for modules on a device");
  v.number("seconds_max", c.seconds_max, {0.01, 600},
           "time after which no further pair of rounds starts (s)");
  v.integer("set_mb", c.set_mb, {1, 65536},
            "memory for inputs and outputs of one round, more than the caches (MiB)");
  v.integer(
      "singles", c.singles, {0, 100},
      "number of pairs of single-call rounds that confirm the speedup; for modules at most 3");
}

void walk_evaluate(EvaluateConfig& c, SchemaVisitor& v) {
  v.integer("builders", c.builders, {0, 256},
            "builds at a time; 0: one on the CPU, one for each three cores on a device");
  v.integer("queue_max", c.queue_max, {1, 1 << 20},
            "limit of submissions in the queue and running; beyond it the server replies BUSY");
  v.integer("client_max", c.client_max, {1, 1 << 20},
            "limit of submissions of one client in the queue and running");
  v.number("build_seconds", c.build_seconds, {0.5, 3600}, "CPU time limit of one build (s)");
  v.integer("build_memory_mb", c.build_memory_mb, {64, 1 << 20}, "memory limit of one build (MiB)");
  v.number("evaluation_seconds", c.evaluation_seconds, {1, 3600},
           "time limit for check and measurement of one submission (s)");
  v.integer("cache_mb", c.cache_mb, {0, 65536},
            "size of the build cache: artifacts and recorded plans (MiB)");
  v.integer("installed_max", c.installed_max, {1, 1024},
            "number of tasks whose baselines a device keeps loaded");
  v.number("suspect_speedup", c.suspect_speedup, {0, 1e6},
           "speedup from which a confirmation run must agree; 0: never");
  v.number("suspect_factor", c.suspect_factor, {0, 1e6},
           "ratio to the best speedup of the task since the start from which a confirmation run "
           "must agree; 0: never");
  v.number("max_interval", c.max_interval, {0, 1e6},
           "limit of the confidence interval relative to the speedup, on a noisy machine; beyond "
           "it, the judge measures again, then reward_valid is false; 0: no limit (the flag noisy "
           "has a limit of its own)");
  v.group("measure", [&c](SchemaVisitor& inner) { walk_measure(c.measure, inner); });
}

void walk_isolation(IsolationConfig& c, SchemaVisitor& v) {
  const std::vector<std::string> levels{"none", "filtered", "separated", "private"};
  v.choice("minimum", c.minimum, levels, "lowest isolation level with which hone starts");
  v.choice("maximum", c.maximum, levels, "highest isolation level to use, for tests");
  v.choice("freezer", c.freezer, {"auto", "cgroup", "ptrace"}, "mechanism that freezes candidates");
  v.text("workdir", c.workdir,
         "folder for temporary files of sandboxes, not used at level private; empty: the "
         "system's temporary folder");
  v.integer("slots", c.slots, {4, 4096}, "limit of sandboxed processes at a time");
  v.integer("first_uid", c.first_uid, {1000, 2'000'000'000},
            "first user id of the sandboxes, if hone runs as root");
}

void walk_datasets(std::vector<DatasetConfig>& datasets, SchemaVisitor& v) {
  v.list(
      "datasets", datasets.size(), [&](std::size_t n) { datasets.assign(n, {}); },
      [&](std::size_t i, SchemaVisitor& inner) {
        inner.text("name", datasets[i].name, "name of the dataset; its tasks are NAME/ID");
        inner.text("plugin", datasets[i].plugin,
                   "dataset plugin: a name, or the path of a .so or .py");
        inner.open_map("config", datasets[i].config,
                       "configuration of the plugin, as in {path: FOLDER}, relative to this file; "
                       "builtin: shipped tasks");
        inner.flag("unlisted", datasets[i].unlisted,
                   "also serve tasks that the dataset does not list, by id (docs/modules.md)");
      },
      "sources of tasks");
}

void walk_plugin_host(PluginHostConfig& c, SchemaVisitor& v) {
  v.flag("in_process", c.in_process,
         "run plugin libraries in the process of hone, which trusts them");
  v.text("python", c.python,
         "Python interpreter for plugins, for example of a virtual environment");
  v.number("call_seconds", c.call_seconds, {0.01, 3600},
           "time limit of one call of a plugin in its own process (s)");
  v.number("start_seconds", c.start_seconds, {0.1, 3600},
           "time limit to load or open a plugin in its own process, or to get a task (s); a "
           "dataset's describe_seconds can extend the latter");
  v.integer("memory_mb", c.memory_mb, {0, 1 << 24},
            "memory limit of a plugin's process (MiB); 0: no limit");
  v.flag("reload", c.reload, "restart a plugin when its file changes, for development");
}

}  // namespace

void walk_config(Config& c, SchemaVisitor& v) {
  std::vector<std::string> backends{"cpu"};
  for (const auto& [name, section] : c.backends) backends.push_back(name);
  v.choice("backend", c.backend, backends, "hardware backend");
  v.group("server", [&c](SchemaVisitor& inner) { walk_server(c.server, inner); });
  v.group("environment", [&c](SchemaVisitor& inner) { walk_environment(c.environment, inner); });
  walk_datasets(c.datasets, v);
  v.flag("open_held_out", c.open_held_out, "serve tasks of the split held_out to all clients");
  v.group("journal", [&c](SchemaVisitor& inner) {
    inner.text("path", c.journal.path,
               "file that stores the episodes across restarts; its folder must exist; empty: none");
    inner.number("keep_days", c.journal.keep_days, {0, 36500},
                 "age after which released episodes are deleted (days); 0: never");
    inner.integer(
        "keep_bytes", c.journal.keep_bytes, {0, 1LL << 50},
        "file size above which the oldest released episodes are deleted (bytes); 0: no limit");
  });
  v.group("reward", [&c](SchemaVisitor& inner) {
    inner.text("name", c.reward.name,
               "reward plugin: a name, or the path of a .so or .py; a reset may choose another");
    inner.open_map("config", c.reward.config,
                   "configuration of the plugin; `hone plugins NAME` lists its keys");
  });
  v.group("cpu", [&c](SchemaVisitor& inner) { walk_cpu(c.cpu, inner); });
  for (auto& [name, section] : c.backends) {
    BackendConfig* const own = &section;
    v.group(name, [own](SchemaVisitor& inner) { walk_backend(*own, inner); });
  }
  v.group("evaluate", [&c](SchemaVisitor& inner) { walk_evaluate(c.evaluate, inner); });
  v.group("isolation", [&c](SchemaVisitor& inner) { walk_isolation(c.isolation, inner); });
  v.group("plugins", [&c](SchemaVisitor& inner) {
    inner.texts("paths", c.plugin_paths,
                "more plugins: libraries and Python files, or folders of them");
    walk_plugin_host(c.plugin_host, inner);
  });
  v.group("log", [&c](SchemaVisitor& inner) {
    inner.choice("level", c.log.level, {"debug", "info", "warning", "error", "off"},
                 "lowest level of messages to log");
    inner.choice("format", c.log.format, {"text", "json"},
                 "form of a line; json: an object with the time in UTC and fields");
    inner.flag("json", c.log.json, "deprecated: use format: json");
  });
  v.group("web", [&c](SchemaVisitor& inner) {
    inner.address(
        "listen", c.web.listen,
        "address of the web page, metrics and health: PORT on loopback, or HOST:PORT; empty: none");
    inner.text("token_file", c.web.token_file,
               "file with the token of HTTP clients; required beyond loopback");
    inner.text("key", c.web.key, "client key of the role monitor; required for a server with keys");
  });
}

}  // namespace hone
