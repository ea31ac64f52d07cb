// `hone bench`: measures hone against baselines, in one run on one machine.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "bench/device.hpp"
#include "bench/evaluation.hpp"
#include "bench/fairness.hpp"
#include "bench/journal.hpp"
#include "bench/module_mix.hpp"
#include "bench/modules.hpp"
#include "bench/plugin_calls.hpp"
#include "bench/protocol.hpp"
#include "bench/web.hpp"
#include "cli/command.hpp"
#include "episode/idle.hpp"
#include "episode/scripted_evaluator.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

using Say = std::function<void(std::string_view what)>;

constexpr const char* kTask = "add_relu";  // default task
constexpr std::size_t kWebClients = 16;    // of `hone bench web`; each has one step in flight

/// What both benchmarks of evaluation need.
struct Evaluation {
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<const Registry> registry;
  EvaluatorOptions options;
  EvaluateBenchOptions bench;
};

Result<Evaluation> start_evaluation(const Config& config) {
  Evaluation made;
  HONE_ASSIGN(made.launcher, Launcher::start(launcher_options(config)));
  made.registry = open_registry(config);
  HONE_ASSIGN(made.options, evaluator_options(config, *made.registry));
  return made;
}

/// The same, with a task.
Result<Evaluation> prepare_evaluation(const Config& config, const std::string& task,
                                      std::int64_t count, const Say& say) {
  HONE_ASSIGN(Evaluation made, start_evaluation(config));
  HONE_ASSIGN(const auto catalog, open_catalog(config, *made.registry));
  auto found = catalog->find_for(config.backend, task);
  if (!found && found.error().code == Code::kNotFound)
    return not_found(found.error().message + " (choose another task with --task)");
  HONE_ASSIGN(made.bench.task, std::move(found));
  made.bench.source = made.bench.task->backends.at(config.backend).baseline.text;
  if (count > 0) made.bench.steps = made.bench.runs = static_cast<int>(count);
  made.bench.progress = [say](int done, int all) {
    say(std::to_string(done) + " of " + std::to_string(all));
  };
  return made;
}

/// A mistake that causes long compiler output.
constexpr const char* kBroken = R"(#include <algorithm>
#include <list>
#include <map>
#include <vector>
extern "C" void add_relu(const float* x, const float* y, float* out, long n) {
  std::list<std::map<int, std::vector<float>>> rows;
  std::sort(rows.begin(), rows.end());
  std::map<std::vector<int>, std::list<float>> table;
  table[3] = "x";
  for (long i = 0; i < n; ++i) out[i] = x[i] + y[i];
}
)";

/// Measures one figure of `idle` in a fresh process, so that its memory holds nothing else.
Result<IdleFigure> measure_here(const Config& config, std::size_t episodes) {
  const auto registry = open_registry(config);
  HONE_ASSIGN(auto catalog, open_catalog(config, *registry));
  ScriptedEvaluator evaluator(
      [](const Submission&) -> Result<Verdict> { return ScriptedEvaluator::correct(1.5); });
  HONE_ASSIGN(const auto service,
              make_episodes(config, *registry, std::move(catalog), evaluator, "none"));
  return measure_idle(*service, episodes, Value::map({{"task", "add_relu"}}));
}

Result<IdleFigure> measure_in_child(const Config& config, std::size_t episodes) {
  int ends[2];
  if (pipe(ends) != 0) return system_error("pipe", errno);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) {
    const auto figure = measure_here(config, episodes);
    if (!figure)
      (void)!write(STDERR_FILENO, figure.error().message.data(), figure.error().message.size());
    if (figure) (void)!write(writing.get(), &*figure, sizeof(IdleFigure));
    _exit(figure ? 0 : 1);
  }
  writing.reset();
  IdleFigure figure;
  const ssize_t got = read(reading.get(), &figure, sizeof figure);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != static_cast<ssize_t>(sizeof figure))
    return internal_error("the process with " + std::to_string(episodes) + " episodes failed");
  return figure;
}

Value at_most(const std::string& name, double value, const char* unit, double limit) {
  return figure(name, value, unit, limit, "ratio <= 1", value <= limit);
}

/// Memory with many open episodes; each figure is measured in its own process. No threads exist yet.
Result<Value> bench_idle(const Config& config, const Say& say) {
  constexpr double kHost = 100e6, kEach = 2048;  // goal: bytes per episode without its history
  Value figures = Value::array();
  for (const std::size_t episodes : {std::size_t{1}, std::size_t{10'000}, std::size_t{100'000}}) {
    say("idle: " + std::to_string(episodes) + " open episodes");
    HONE_ASSIGN(const IdleFigure idle, measure_in_child(config, episodes));
    const auto held = static_cast<double>(idle.resident_after);
    const auto history = static_cast<double>(idle.history_bytes);
    const double allowed = kHost + kEach * static_cast<double>(episodes) + history;
    const std::string name = "memory, " + std::to_string(episodes) + " open episodes";
    figures.push(at_most(name, held / 1e6, "MB", allowed / 1e6));
    if (episodes == 1) continue;
    figures.push(at_most(name + ": per episode without its history", idle.bytes_beyond_history(),
                         "B", kEach));
    figures.push(figure(name + ": history (with a journal it may leave memory)", history / 1e6,
                        "MB", held / 1e6));
  }
  return figures;
}

class BenchCommand : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override {
    return "Measure the performance of hone against plain baselines.";
  }
  std::vector<std::string> examples() const override {
    return {"hone bench protocol           # requests/s, against a plain ROUTER/DEALER echo",
            "hone bench fairness           # throughput of other clients when one floods",
            "hone bench step               # overhead of each stage (1 to 2 minutes)",
            "hone bench gpu --config FILE  # rate, clock and noise of a device (2 minutes)",
            "hone bench modules --config FILE --task kernelbench/level1/19",
            "hone bench modules --config FILE --run runs/first --level 1",
            "hone bench journal            # cost of durability, and restart (minutes)",
            "hone bench web                # the web page, and a server with browsers (minutes)",
            "hone bench plugin             # a reward in hone, in a plugin host and in Python",
            "hone bench idle               # memory with up to 100,000 open episodes",
            "hone bench noise --count 50   # a kernel against itself (500 take 30 min)",
            "hone bench protocol --json"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "WHAT",
                  .doc = "benchmark to run",
                  .choices = {"protocol", "fairness", "step", "gpu", "modules", "journal", "web",
                              "plugin", "idle", "noise"},
                  .required = true},
                 what_);
    options.text({.name = "--task",
                  .doc = "step, gpu, modules, noise: task (default: add_relu)",
                  .value = "TASK"},
                 task_);
    options.integer({.name = "--count",
                     .doc = "step, modules: submissions of each kind (default: 20; with --run or "
                            "--traces: 1); gpu: submissions (default: 64); noise: repetitions "
                            "(default: 500); journal, web: rounds of steps that build (default: 2)",
                     .value = "N"},
                    count_, 2, 1'000'000);
    options.text({.name = "--source",
                  .doc = "modules: a correct submission (default: the module itself)",
                  .value = "FILE"},
                 source_);
    options.texts({.name = "--run",
                   .doc = "modules: folder with level_1_problem_P_sample_S_kernel.py; the baseline "
                          "runs it without a sandbox (repeatable)",
                   .value = "DIR"},
                  mix_.runs);
    options.integer({.name = "--level",
                     .doc = "modules: KernelBench level of every --run folder",
                     .value = "N"},
                    mix_.level, 1, 1'000'000);
    options.text({.name = "--traces",
                  .doc = "modules: file of traces, as for `hone traces`",
                  .value = "FILE"},
                 mix_.traces);
    options.texts({.name = "--trace",
                   .doc = "modules: run only this trace of --traces (repeatable)",
                   .value = "KEY"},
                  mix_.keys);
    options.integer({.name = "--episodes",
                     .doc = "journal, web: episodes in the journal (default: 100000)",
                     .value = "N"},
                    episodes_, 1, 100'000'000);
    options.integer({.name = "--steps",
                     .doc = "journal, web: steps of these episodes in total (default: 1000000)",
                     .value = "N"},
                    steps_, 1, 1'000'000'000);
    options.text({.name = "--folder",
                  .doc = "journal, web: folder on the disk to measure (default: .)",
                  .value = "DIR"},
                 folder_);
    config_.declare(options);
    options.flag(
        {.name = "--json", .doc = "print a JSON list of figures with unit, baseline and ratio"},
        json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (const Status fit = fit_options(*loaded); !fit) return terminal.fail(fit.error());
    const auto figures = measure(
        loaded->config, [&](std::string_view what) { terminal.status(std::string(what) + "…"); });
    terminal.clear_status();
    if (!figures) return terminal.fail(without_verbs(figures.error()), next_step(figures.error()));
    return print(terminal, *figures);
  }

 private:
  /// Checks options that exclude or need each other. A mix adds a dataset and needs many processes.
  Status fit_options(LoadedConfig& loaded) {
    HONE_TRY(mix_.check(what_, task_ != kTask));
    if (mix_.empty()) return {};
    if (!source_.empty() || task_ != kTask) {
      return invalid_argument(std::string(source_.empty() ? "--task" : "--source") +
                              ": cannot be combined with --run or --traces; use one of them");
    }
    HONE_ASSIGN(mix_traces_, MixTraces::open(mix_, loaded.config));
    return fit_slots(loaded);
  }

  Result<Value> measure(const Config& config, const Say& say) const {
    if (what_ == "idle") return bench_idle(config, say);
    if (what_ == "plugin") return measure_plugins(config, say);
    if (what_ == "step" || what_ == "noise") {
      HONE_ASSIGN(const Evaluation made, prepare_evaluation(config, task_, count_, say));
      return what_ == "step" ? bench_step(*made.launcher, made.options, made.bench)
                             : bench_noise(*made.launcher, made.options, made.bench);
    }
    if (what_ == "gpu") return measure_device(config, say);
    if (what_ == "modules" && !mix_.empty()) return measure_mix(config, say);
    if (what_ == "modules") return measure_modules(config, say);
    if (what_ == "journal" || what_ == "web") return measure_journal(config, say);
    say(what_);
    const auto registry = open_registry(config);
    HONE_ASSIGN(const ProtocolBenchOptions options, host_options(config, *registry));
    return what_ == "fairness" ? bench_fairness(options) : bench_protocol(options);
  }

  static Result<ProtocolBenchOptions> host_options(const Config& config, const Registry& registry) {
    ProtocolBenchOptions options;
    options.open_reward = [&](const std::string& name, const Value& own) {
      return registry.open_reward(name, own);
    };
    HONE_ASSIGN(options.reward, registry.name_of(config.reward.name));
    return options;
  }

  Result<Value> measure_device(const Config& config, const Say& say) const {
    HONE_ASSIGN(const Evaluation made, prepare_evaluation(config, task_, 0, say));
    DeviceBenchOptions bench;
    bench.task = made.bench.task;
    if (count_ > 0) bench.count = static_cast<int>(count_);
    bench.say = say;
    return bench_device(*made.launcher, made.options, bench);
  }

  Result<Value> measure_modules(const Config& config, const Say& say) const {
    HONE_ASSIGN(const Evaluation made, prepare_evaluation(config, task_, 0, say));
    ModuleBenchOptions bench;
    bench.task = made.bench.task;
    bench.source = made.bench.source;
    if (!source_.empty()) {
      HONE_ASSIGN(bench.source, read_text(source_));
    }
    if (count_ > 0) bench.count = static_cast<int>(count_);
    bench.at_once = cpu_count();
    bench.say = say;
    return bench_modules(*made.launcher, made.options, bench);
  }

  Result<Value> measure_mix(const Config& config, const Say& say) const {
    HONE_ASSIGN(const Evaluation made, start_evaluation(config));
    HONE_ASSIGN(const auto catalog, open_catalog(config, *made.registry));
    HONE_ASSIGN(const auto environment, open_kernel_refine(config));
    say("reading the mix");
    MixBenchOptions bench;
    HONE_ASSIGN(bench.mix, read_mix(mix_, mix_traces_, config, *catalog, *environment));
    bench.count = static_cast<int>(count_);
    bench.at_once = cpu_count();
    bench.say = say;
    return bench_mix(*made.launcher, made.options, bench);
  }

  Result<Value> measure_journal(const Config& config, const Say& say) const {
    HONE_ASSIGN(Evaluation made, prepare_evaluation(config, task_, 0, say));
    made.options.measure.pairs_max = made.options.measure.pairs_min;  // the same work in each step
    HONE_ASSIGN(const auto evaluator, make_evaluator(*made.launcher, made.options, "bench"));
    HONE_ASSIGN(const auto catalog, open_catalog(config, *made.registry));
    HONE_ASSIGN(const ScratchFolder folder, ScratchFolder::make(folder_));
    JournalBenchOptions options;
    HONE_ASSIGN(options.host, host_options(config, *made.registry));
    options.host.steps = 200;
    options.folder = folder.path();
    options.episodes = static_cast<std::size_t>(episodes_);
    options.turns = static_cast<std::size_t>(std::max(steps_, episodes_));
    options.real = [&](Journal* journal) {
      return make_episodes(config, *made.registry, catalog, *evaluator, "bench", journal);
    };
    if (count_ > 0) options.build_rounds = static_cast<std::size_t>(count_);
    options.task = task_;
    options.source = made.bench.source;
    options.broken = kBroken;
    options.say = say;
    if (what_ == "journal") return bench_journal(options);
    options.clients = kWebClients;
    WebBenchOptions web;
    web.journal = std::move(options);
    return bench_web(web);
  }

  static Result<Value> measure_plugins(const Config& config, const Say& say) {
    say("plugins");
    PluginBenchOptions options;
    options.library = install_root() / "plugins/rewards/kevin.so";
    options.python = install_root() / "share/template/reward.py";
    options.hosts = plugin_host_options(config);
    return bench_plugins(options);
  }

  int print(Terminal& terminal, const Value& figures) const {
    bool all = true;
    std::vector<Row> rows;
    for (const Value& figure : figures.as_array()) {
      const std::string unit = figure.find("unit")->as_string();
      const auto number = [&](std::string_view key) {
        const Value* member = figure.find(key);
        if (member == nullptr || !member->is_number()) return std::string("–");
        const bool counted = unit == "submissions" && key != "ratio";
        return counted ? std::to_string(std::llround(member->as_double()))
                       : short_number(member->as_double());
      };
      const Value* holds = figure.find("holds");
      const bool judged = holds != nullptr && holds->is_bool();
      const bool good = !judged || holds->as_bool();
      all = all && good;
      const Value* goal = figure.find("goal");
      std::string wanted = goal == nullptr || goal->is_nil() ? ""
                           : goal->is_string()               ? goal->as_string()
                                                             : to_json(*goal);
      rows.push_back({{figure.find("name")->as_string(), Colour::kBold},
                      {number("value"), Colour::kPlain, true},
                      {unit},
                      {number("baseline"), Colour::kPlain, true},
                      {number("ratio"), Colour::kPlain, true},
                      {wanted},
                      {!judged ? ""
                       : good  ? "holds"
                               : "falls short",
                       good ? Colour::kGreen : Colour::kRed}});
    }
    if (json_) {
      terminal.json(figures, 2);
    } else {
      terminal.line(machine());
      terminal.table({"figure", "value", "unit", "baseline", "ratio", "goal", ""}, rows);
    }
    return all ? kExitOk : kExitNo;
  }

  static std::string machine() {
    const auto registry = open_registry(Config());
    const auto backend = registry->open_backend("cpu");
    const auto facts =
        backend ? (*backend)->describe(Value::map()) : Result<Value>(backend.error());
    return std::to_string(cpu_count()) + " CPUs; " +
           (facts ? facts->find("fingerprint")->as_string() : "unknown machine");
  }

  ConfigOptions config_;
  std::string what_, task_ = kTask, folder_ = ".", source_;
  MixRequest mix_;
  MixTraces mix_traces_;
  std::int64_t count_ = 0, episodes_ = 100'000, steps_ = 1'000'000;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace hone
