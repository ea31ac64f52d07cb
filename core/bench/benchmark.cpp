// Opens what each benchmark needs of a configuration.
#include "bench/benchmark.hpp"

#include <algorithm>
#include <utility>

#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "bench/device.hpp"
#include "bench/evaluation.hpp"
#include "bench/fairness.hpp"
#include "bench/idle_memory.hpp"
#include "bench/journal.hpp"
#include "bench/modules.hpp"
#include "bench/plugin_calls.hpp"
#include "bench/protocol.hpp"
#include "bench/web.hpp"

namespace hone {
namespace {

constexpr std::size_t kWebClients = 16;  // of `hone bench web`; each has one step in flight

/// What the benchmarks of evaluation need.
struct EvaluationParts {
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<const Registry> registry;
  EvaluatorOptions options;
  EvaluateBenchOptions bench;
};

Result<EvaluationParts> start_evaluation(const Config& config) {
  EvaluationParts made;
  HONE_ASSIGN(made.launcher, Launcher::start(launcher_options(config)));
  made.registry = open_registry(config);
  HONE_ASSIGN(made.options, evaluator_options(config, *made.registry));
  return made;
}

/// The same, with a task.
Result<EvaluationParts> prepare_evaluation(const Config& config, const std::string& task,
                                           std::int64_t count, const Benchmark::Say& say) {
  HONE_ASSIGN(EvaluationParts made, start_evaluation(config));
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

Result<ProtocolBenchOptions> host_options(const Config& config, const Registry& registry) {
  ProtocolBenchOptions options;
  options.open_reward = [&](const std::string& name, const Value& own) {
    return registry.open_reward(name, own);
  };
  HONE_ASSIGN(options.reward, registry.name_of(config.reward.name));
  return options;
}

Result<Value> measure_plugins(const Config& config, const Benchmark::Say& say) {
  say("plugins");
  PluginBenchOptions options;
  options.library = install_root() / "plugins/rewards/kevin.so";
  options.python = install_root() / "share/template/reward.py";
  options.hosts = plugin_host_options(config);
  return bench_plugins(options);
}

}  // namespace

Result<Benchmark> Benchmark::open(BenchRequest request, LoadedConfig loaded) {
  const MixRequest& mix = request.mix;
  const bool has_task = request.task != kBenchTask;
  HONE_TRY(mix.check(request.what, has_task));
  MixTraces traces;
  if (!mix.empty()) {
    if (!request.source.empty() || has_task) {
      return invalid_argument(std::string(request.source.empty() ? "--task" : "--source") +
                              ": cannot be combined with --run or --traces; use one of them");
    }
    HONE_ASSIGN(traces, MixTraces::open(mix, loaded.config));
    HONE_TRY(fit_slots(loaded));
  }
  return Benchmark(std::move(request), std::move(traces), std::move(loaded.config));
}

Result<Value> Benchmark::measure(const Say& say) const {
  if (request_.what == "idle") return bench_idle(config_, say);
  if (request_.what == "plugin") return measure_plugins(config_, say);
  if (request_.what == "step" || request_.what == "noise") {
    HONE_ASSIGN(const EvaluationParts made,
                prepare_evaluation(config_, request_.task, request_.count, say));
    return request_.what == "step" ? bench_step(*made.launcher, made.options, made.bench)
                                   : bench_noise(*made.launcher, made.options, made.bench);
  }
  if (request_.what == "gpu") return measure_device(say);
  if (request_.what == "modules" && !request_.mix.empty()) return measure_mix(say);
  if (request_.what == "modules") return measure_modules(say);
  if (request_.what == "journal" || request_.what == "web") return measure_journal(say);
  say(request_.what);
  const auto registry = open_registry(config_);
  HONE_ASSIGN(const ProtocolBenchOptions options, host_options(config_, *registry));
  return request_.what == "fairness" ? bench_fairness(options) : bench_protocol(options);
}

Result<Value> Benchmark::measure_device(const Say& say) const {
  HONE_ASSIGN(const EvaluationParts made, prepare_evaluation(config_, request_.task, 0, say));
  DeviceBenchOptions bench;
  bench.task = made.bench.task;
  if (request_.count > 0) bench.count = static_cast<int>(request_.count);
  bench.say = say;
  return bench_device(*made.launcher, made.options, bench);
}

Result<Value> Benchmark::measure_modules(const Say& say) const {
  HONE_ASSIGN(const EvaluationParts made, prepare_evaluation(config_, request_.task, 0, say));
  ModuleBenchOptions bench;
  bench.task = made.bench.task;
  bench.source = made.bench.source;
  if (!request_.source.empty()) {
    HONE_ASSIGN(bench.source, read_text(request_.source));
  }
  if (request_.count > 0) bench.count = static_cast<int>(request_.count);
  bench.at_once = cpu_count();
  bench.say = say;
  return bench_modules(*made.launcher, made.options, bench);
}

Result<Value> Benchmark::measure_mix(const Say& say) const {
  HONE_ASSIGN(const EvaluationParts made, start_evaluation(config_));
  HONE_ASSIGN(const auto catalog, open_catalog(config_, *made.registry));
  HONE_ASSIGN(const auto environment, open_kernel_refine(config_));
  say("reading the mix");
  MixBenchOptions bench;
  HONE_ASSIGN(bench.mix, read_mix(request_.mix, mix_traces_, config_, *catalog, *environment));
  bench.count = static_cast<int>(request_.count);
  if (request_.mix.in_flight > 0) bench.in_flight = static_cast<int>(request_.mix.in_flight);
  bench.at_once = cpu_count();
  bench.say = say;
  return bench_mix(*made.launcher, made.options, bench);
}

Result<Value> Benchmark::measure_journal(const Say& say) const {
  HONE_ASSIGN(EvaluationParts made, prepare_evaluation(config_, request_.task, 0, say));
  made.options.measure.pairs_max = made.options.measure.pairs_min;  // the same work in each step
  HONE_ASSIGN(const auto evaluator, make_evaluator(*made.launcher, made.options, "bench"));
  HONE_ASSIGN(const auto catalog, open_catalog(config_, *made.registry));
  HONE_ASSIGN(const ScratchFolder folder, ScratchFolder::make(request_.folder));
  JournalBenchOptions options;
  HONE_ASSIGN(options.host, host_options(config_, *made.registry));
  options.host.steps = 200;
  options.folder = folder.path();
  options.episodes = static_cast<std::size_t>(request_.episodes);
  options.turns = static_cast<std::size_t>(std::max(request_.steps, request_.episodes));
  options.real = [&](Journal* journal) {
    return make_episodes(config_, *made.registry, catalog, *evaluator, "bench", journal);
  };
  if (request_.count > 0) options.build_rounds = static_cast<std::size_t>(request_.count);
  options.task = request_.task;
  options.source = made.bench.source;
  options.broken = kBroken;
  options.say = say;
  if (request_.what == "journal") return bench_journal(options);
  options.clients = kWebClients;
  WebBenchOptions web;
  web.journal = std::move(options);
  return bench_web(web);
}

}  // namespace hone
