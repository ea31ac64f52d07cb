// Every key of the configuration, its range and what it is for.
#include "config/schema.hpp"

namespace hone {
namespace {

constexpr double kDay = 86400;

void walk_limits(LimitsConfig& c, SchemaVisitor& v) {
  v.integer("frame_bytes", c.frame_bytes, {1024, 1 << 30}, "largest frame of a message");
  v.integer("message_bytes", c.message_bytes, {1024, 1 << 30},
            "largest message, all frames together");
  v.integer("frames", c.frames, {4, 1024}, "most frames of a message");
  v.integer("source_bytes", c.source_bytes, {64, 64 << 20}, "largest submission");
  v.integer("in_flight", c.in_flight, {1, 1 << 20},
            "requests of one connection under way at a time");
  v.integer("episodes", c.episodes, {1, 10'000'000}, "episodes kept, of all clients");
  v.integer("client_episodes", c.client_episodes, {1, 10'000'000},
            "open episodes of one client, where its entry says nothing else");
  v.integer("client_evaluations", c.client_evaluations, {1, 1 << 20},
            "steps of one client under way, likewise");
  v.integer("client_bytes", c.client_bytes, {1024, 1LL << 50},
            "bytes kept of one client's turns, likewise");
}

void walk_server(ServerConfig& c, SchemaVisitor& v) {
  v.text("endpoint", c.endpoint,
         "where trainers connect: tcp://127.0.0.1:PORT or ipc:///path; beyond loopback with keys");
  v.text("control", c.control, "where cancel, metrics and health are answered; empty: nowhere");
  v.text("keys", c.keys,
         "folder of keys (hone keys new NAME): CURVE on both endpoints; empty: loopback only");
  v.number("lease_s", c.lease_s, {1, kDay}, "idle time after which an episode is closed (s)");
  v.number("ended_lease_s", c.ended_lease_s, {1, kDay},
           "time for which the replies of an ended episode are kept (s)");
  v.number("heartbeat_s", c.heartbeat_s, {0.1, 3600}, "how often clients are asked to ping");
  v.number("drain_s", c.drain_s, {0, 3600}, "how long a shutdown waits for steps under way");
  v.number("disconnect_grace_s", c.disconnect_grace_s, {0, kDay},
           "time after which the steps of a lost connection are dropped");
  v.group("limits", [&c](SchemaVisitor& inner) { walk_limits(c.limits, inner); });
}

void walk_environment(EnvironmentConfig& c, SchemaVisitor& v) {
  v.text(
      "name", c.name,
      "the environment that episodes run in: kernel_refine, autotune, or a plugin's name or .py");
  v.text("split", c.split, "where a task is drawn from when a reset names none");
  v.integer("max_turns", c.max_turns, {1, 1000}, "turns of an episode");
  v.number_or_nil("stop_speedup", c.stop_speedup, {0, 1e6},
                  "a correct kernel this fast ends the episode");
  v.number_or_nil("stop_reward", c.stop_reward, {-1e9, 1e9},
                  "a reward of so much ends the episode");
  v.number_or_nil("seconds_max", c.seconds_max, {0.1, 30 * kDay}, "an episode ends after so long");
  v.integer("feedback_tokens", c.feedback_tokens, {64, 65536},
            "most tokens of feedback after a turn");
  v.choice("prompt", c.prompt, {"zero_shot", "few_shot"},
           "the task alone, or after examples of other tasks");
  v.text("hardware", c.hardware, "what prompts say of the machine; empty: nothing");
  v.text("templates", c.templates,
         "folder of templates that stand in the place of those shipped (docs/prompts.md)");
}

void walk_compiler(CompilerConfig& c, SchemaVisitor& v) {
  v.text("path", c.path, "auto (GCC, else clang) or an absolute path");
  v.texts("flags", c.flags, "optimisation and dialect; the rest is hone's");
}

void walk_cpu(CpuConfig& c, SchemaVisitor& v) {
  v.group("c++", [&c](SchemaVisitor& inner) { walk_compiler(c.cxx, inner); });
  v.group("c", [&c](SchemaVisitor& inner) { walk_compiler(c.c, inner); });
  v.text("python", c.python,
         "the interpreter for PyTorch and Triton modules; empty: none are taken");
  v.texts("readable", c.readable, "further folders that the compilers need to read");
  v.list(
      "devices", c.devices.size(), [&c](std::size_t n) { c.devices.assign(n, {}); },
      [&c](std::size_t i, SchemaVisitor& inner) {
        inner.integer("judge_cpu", c.devices[i].judge_cpu, {0, 4095}, "the judge's own core");
        inner.integers("cores", c.devices[i].cores, {0, 4095}, "cores that submissions run on");
      },
      "sets of cores that measure side by side; none given: chosen for this machine");
}

void walk_gpu(GpuConfig& c, SchemaVisitor& v) {
  v.text("compiler", c.compiler, "auto, or the path of the runtime compiler's library");
  v.text("architecture", c.architecture, "what is built for; empty: what the device is");
  v.texts("flags", c.flags, "of the compiler; the rest is hone's");
  v.texts("include", c.include, "folders of the vendor's headers; none given: the toolkit's");
  v.integers("devices", c.devices, {0, 1023}, "which devices evaluate");
  v.choice("isolation", c.isolation, {"client", "fresh"},
           "client: the submissions of one client share a process; fresh: each has its own");
  v.choice(
      "module_isolation", c.module_isolation, {"fresh", "episode", "client"},
      "of PyTorch and Triton modules: fresh: each has a process of its own; episode, client: those "
      "of one share it");
  v.integer("module_lanes", c.module_lanes, {0, kModuleLanesMax},
            "modules that are checked at a time where each has a process of its own, one alone is "
            "measured; 0: by the processor's cores");
  v.integer("uses", c.uses, {1, 1'000'000}, "submissions before a shared process is replaced");
  v.text("python", c.python,
         "the interpreter for PyTorch and Triton modules; empty: none are taken");
  v.text("library", c.library, "another build of the backend's library; empty: hone's");
}

void walk_measure(MeasureConfig& c, SchemaVisitor& v) {
  v.number("round_ms", c.round_ms, {0.1, 1000}, "target duration of one timed round (ms)");
  v.integer("pairs_min", c.pairs_min, {3, 1000},
            "fewest pairs of baseline and submission; of modules on a device three quarters");
  v.integer("pairs_max", c.pairs_max, {3, 1000}, "most pairs; likewise");
  v.number("seconds_max", c.seconds_max, {0.01, 600}, "no further pair after so long");
  v.integer("set_mb", c.set_mb, {1, 65536},
            "memory for a round's inputs and outputs; above the caches");
  v.integer("singles", c.singles, {0, 100},
            "pairs of rounds of one call, which must agree; of modules at most 3");
}

void walk_evaluate(EvaluateConfig& c, SchemaVisitor& v) {
  v.integer("builders", c.builders, {0, 256},
            "builds at a time; 0: on the processor 1, for devices one for each three cores");
  v.integer("queue_max", c.queue_max, {1, 1 << 20},
            "submissions waiting and running; more are answered BUSY");
  v.integer("client_max", c.client_max, {1, 1 << 20}, "the same, of one client");
  v.number("build_seconds", c.build_seconds, {0.5, 3600}, "processor time for one compiler");
  v.integer("build_memory_mb", c.build_memory_mb, {64, 1 << 20}, "memory for one build");
  v.number("evaluation_seconds", c.evaluation_seconds, {1, 3600},
           "time for check and measurement of one submission");
  v.integer("cache_mb", c.cache_mb, {0, 65536}, "built artifacts kept");
  v.integer("installed_max", c.installed_max, {1, 1024},
            "tasks whose baseline a device keeps ready");
  v.number("suspect_speedup", c.suspect_speedup, {0, 1e6},
           "least speedup that gets a confirmation run, which must agree; 0: none for that");
  v.number("suspect_factor", c.suspect_factor, {0, 1e6},
           "so does one so many times the best of its task since the start; 0: none for that");
  v.number(
      "max_interval", c.max_interval, {0, 1e6},
      "widest interval of a speedup, relative to it; on a noisy machine a wider one is measured "
      "again, then reward_valid is false; 0: any");
  v.group("measure", [&c](SchemaVisitor& inner) { walk_measure(c.measure, inner); });
}

void walk_isolation(IsolationConfig& c, SchemaVisitor& v) {
  const std::vector<std::string> levels{"none", "filtered", "separated", "private"};
  v.choice("minimum", c.minimum, levels, "refuse to start where the machine allows less");
  v.choice("maximum", c.maximum, levels, "use no more than this, for tests");
  v.choice("freezer", c.freezer, {"auto", "cgroup", "ptrace"}, "how candidates are stopped");
  v.text("workdir", c.workdir, "scratch for builds; empty: the system's temporary folder");
  v.integer("slots", c.slots, {4, 4096}, "jailed processes at a time");
  v.integer("first_uid", c.first_uid, {1000, 2'000'000'000},
            "first user of the jails, when run as root");
}

void walk_datasets(std::vector<DatasetConfig>& datasets, SchemaVisitor& v) {
  v.list(
      "datasets", datasets.size(), [&](std::size_t n) { datasets.assign(n, {}); },
      [&](std::size_t i, SchemaVisitor& inner) {
        inner.text("name", datasets[i].name, "its tasks are NAME/ID");
        inner.text("plugin", datasets[i].plugin,
                   "the dataset plugin that reads it: a name, or the path of a .so or .py");
        inner.open_map("config", datasets[i].config,
                       "the plugin's own: {path: FOLDER}, relative to this file, or builtin");
        inner.flag("unlisted", datasets[i].unlisted,
                   "serve tasks that it does not list, by their ids (docs/modules.md)");
      },
      "where tasks come from");
}

void walk_plugin_host(PluginHostConfig& c, SchemaVisitor& v) {
  v.flag("in_process", c.in_process, "trust libraries of your own: they run in hone itself");
  v.text("python", c.python, "what runs plugins in Python: of a virtual environment, say");
  v.number("call_seconds", c.call_seconds, {0.01, 3600},
           "time for a call of a plugin that runs in a process of its own");
  v.number("start_seconds", c.start_seconds, {0.1, 3600}, "time for it to load, and to open");
  v.integer("memory_mb", c.memory_mb, {0, 1 << 24}, "memory for its process; 0: no limit");
  v.flag("reload", c.reload, "start it again when its file has changed, for development");
}

}  // namespace

void walk_config(Config& c, SchemaVisitor& v) {
  v.choice("backend", c.backend, {"cpu", "cuda", "hip"}, "the hardware that evaluates");
  v.group("server", [&c](SchemaVisitor& inner) { walk_server(c.server, inner); });
  v.group("environment", [&c](SchemaVisitor& inner) { walk_environment(c.environment, inner); });
  walk_datasets(c.datasets, v);
  v.flag("open_held_out", c.open_held_out, "serve tasks of split held_out, to everybody");
  v.group("journal", [&c](SchemaVisitor& inner) {
    inner.text("path", c.journal.path,
               "file in an existing folder that records episodes, so that they outlive the server; "
               "empty: none");
    inner.number("keep_days", c.journal.keep_days, {0, 36500},
                 "episodes that nobody holds go after so long; 0: never");
    inner.integer("keep_bytes", c.journal.keep_bytes, {0, 1LL << 50},
                  "above this size the oldest of them go; 0: never");
  });
  v.group("reward", [&c](SchemaVisitor& inner) {
    inner.text("name", c.reward.name,
               "the reward plugin: a name, or the path of a .so or .py; a reset may name another");
    inner.open_map("config", c.reward.config, "the plugin's own: hone plugins NAME lists it");
  });
  v.group("cpu", [&c](SchemaVisitor& inner) { walk_cpu(c.cpu, inner); });
  v.group("cuda", [&c](SchemaVisitor& inner) { walk_gpu(c.cuda, inner); });
  v.group("hip", [&c](SchemaVisitor& inner) { walk_gpu(c.hip, inner); });
  v.group("evaluate", [&c](SchemaVisitor& inner) { walk_evaluate(c.evaluate, inner); });
  v.group("isolation", [&c](SchemaVisitor& inner) { walk_isolation(c.isolation, inner); });
  v.group("plugins", [&c](SchemaVisitor& inner) {
    inner.texts("paths", c.plugin_paths,
                "plugins of your own: libraries and Python files, or folders of them");
    walk_plugin_host(c.plugin_host, inner);
  });
  v.group("log", [&c](SchemaVisitor& inner) {
    inner.choice("level", c.log.level, {"debug", "info", "warning", "error", "off"},
                 "least to say");
    inner.flag("json", c.log.json, "lines are JSON objects");
  });
}

}  // namespace hone
