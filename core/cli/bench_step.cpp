// `hone bench step` and `hone bench noise`: real evaluations, against a bare loop and against
// themselves.
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <future>
#include <thread>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "cli/bare.hpp"
#include "cli/bench.hpp"
#include "cli/host.hpp"
#include "judge/statistics.hpp"

namespace hone {
namespace {

const double kNone = std::nan("");

/// A source nobody has built yet, so that no cache answers.
std::string unseen(const std::string& source) { return source + "\n// " + random_hex(8) + "\n"; }

Result<Verdict> judge(Host& host, const std::shared_ptr<const Task>& task,
                      const std::string& source) {
  auto promise = std::make_shared<std::promise<Result<Verdict>>>();
  auto future = promise->get_future();
  Submission submission{.task = task,
                        .language = "c++",
                        .source = source,
                        .client = "bench",
                        .episode = random_hex(4),
                        .group = "",
                        .seed = random_u64()};
  HONE_TRY(host.evaluator().submit(
      std::move(submission), [](Stage) {},
      [promise](Result<Verdict> v) { promise->set_value(std::move(v)); }));
  Result<Verdict> verdict = future.get();
  if (verdict && !verdict->correct())
    return internal_error("the baseline was judged " + std::string(outcome_name(verdict->outcome)) +
                          ": " + verdict->reason);
  return verdict;
}

/// Compiles with the task's toolchain, in a folder of its own, as a plain script would.
Result<std::string> compile(const Backend& backend, const EvaluatorOptions& options,
                            const Source& source, const std::string& entry, int threads,
                            const std::filesystem::path& folder) {
  const Toolchain& toolchain = options.toolchains.at("c++");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const auto built = backend.build(Value::map(
      {{"sources", Value::array({Value::map({{"name", source.name}, {"text", source.text}})})},
       {"language", "c++"},
       {"entry", entry},
       {"options",
        Value::map({{"compiler", toolchain.compiler},
                    {"flags", Value::Array(toolchain.flags.begin(), toolchain.flags.end())},
                    {"threads", threads},
                    {"seconds", 60.0}})}}));
  std::filesystem::current_path(before);
  HONE_TRY(built);
  if (!built->find("ok")->as_bool())
    return internal_error("bare build failed: " + built->find("diagnostics")->as_string());
  return built->find("artifact")->as_bytes();
}

/// A bare process per submission, as isolation costs nothing less: it exits with its figures
/// written to a pipe.
Result<BareRun> run_in_child(const Backend& backend, const Task& task,
                             const BareArtifacts& artifacts, const EvaluatorOptions& options,
                             double call_seconds, int cpu) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
    const auto run =
        run_bare(backend, task, artifacts, random_u64(), options.measure, call_seconds);
    const BareRun figures = run ? *run : BareRun{};
    (void)!write(writing.get(), &figures, sizeof figures);
    _exit(run ? 0 : 1);
  }
  writing.reset();
  BareRun figures;
  const ssize_t got = read(reading.get(), &figures, sizeof figures);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != static_cast<ssize_t>(sizeof figures) || status != 0)
    return internal_error("the bare run failed");
  if (!figures.correct) return internal_error("the bare run found its own baseline wrong");
  return figures;
}

double stage_of(const Verdict& verdict, const char* stage) {
  const auto found = verdict.stage_ms.find(stage);
  return found == verdict.stage_ms.end() ? 0 : found->second;
}

/// Medians over the submissions of one kind.
struct Stages {
  std::vector<double> build, check, measure, total;
  std::vector<double> elsewhere;  ///< queues, processes, loading

  void add(double build_ms, double check_ms, double measure_ms, double total_ms) {
    build.push_back(build_ms);
    check.push_back(check_ms);
    measure.push_back(measure_ms);
    total.push_back(total_ms);
    elsewhere.push_back(total_ms - build_ms - check_ms - measure_ms);
  }
};

/// The bare loop's side, ready to run: everything that hone's judge keeps between submissions is
/// kept here too.
struct Bare {
  std::unique_ptr<Backend> backend;
  EvaluatorOptions options;
  std::filesystem::path folder;
  BareArtifacts artifacts;
  double call_seconds = 0;
  std::shared_ptr<const Task> task;

  ~Bare() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Status prepare(Host& host, const Config& config) {
    HONE_ASSIGN(backend, host.registry().open_backend(config.backend));
    HONE_ASSIGN(options, evaluator_options(config, host.registry()));
    folder = std::filesystem::temp_directory_path() / ("hone-bench-" + random_hex(6));
    std::filesystem::create_directory(folder);
    const BackendSources& sources = task->backends.at(config.backend);
    HONE_ASSIGN(artifacts.reference,
                compile(*backend, options, sources.reference, "reference", 1, folder));
    HONE_ASSIGN(artifacts.baseline,
                compile(*backend, options, sources.baseline, task->entry, task->threads, folder));
    return {};
  }

  Status run(const std::string& source, Stages& stages) {
    const double start = monotonic_s();
    HONE_ASSIGN(artifacts.submission, compile(*backend, options, {"submission.cpp", source},
                                              task->entry, task->threads, folder));
    const double built = monotonic_s();
    HONE_ASSIGN(const BareRun ran, run_in_child(*backend, *task, artifacts, options, call_seconds,
                                                options.devices.front().cores.front()));
    stages.add((built - start) * 1e3, ran.check_ms, ran.measure_ms, (monotonic_s() - start) * 1e3);
    return {};
  }
};

Status run_hone(Host& host, const std::shared_ptr<const Task>& task, const std::string& source,
                Stages& stages, double* call_s) {
  const double start = monotonic_s();
  HONE_ASSIGN(const Verdict verdict, judge(host, task, source));
  const double total_ms = (monotonic_s() - start) * 1e3;
  stages.add(stage_of(verdict, "build"), stage_of(verdict, "check"), stage_of(verdict, "measure"),
             total_ms);
  if (verdict.speedup) *call_s = verdict.speedup->baseline_us * 1e-6;
  return {};
}

/// Several at a time, as a batch of episodes asks.
Result<double> throughput_of_hone(Host& host, const std::shared_ptr<const Task>& task,
                                  const std::string& source, std::size_t count) {
  const double start = monotonic_s();
  std::vector<std::future<Result<Verdict>>> waiting;
  for (std::size_t i = 0; i < count; ++i) {
    auto promise = std::make_shared<std::promise<Result<Verdict>>>();
    waiting.push_back(promise->get_future());
    Submission submission{.task = task,
                          .language = "c++",
                          .source = unseen(source),
                          .client = "bench",
                          .episode = std::to_string(i),
                          .group = "",
                          .seed = random_u64()};
    HONE_TRY(host.evaluator().submit(
        std::move(submission), [](Stage) {},
        [promise](Result<Verdict> v) { promise->set_value(std::move(v)); }));
  }
  for (auto& one : waiting) HONE_TRY(one.get());
  return static_cast<double>(count) / (monotonic_s() - start);
}

struct Spread {
  std::vector<double> speedups;
  std::size_t missed = 0, faster = 0;

  double deviation() const {
    double sum = 0, squares = 0;
    for (const double s : speedups) sum += s;
    const double mean = sum / static_cast<double>(speedups.size());
    for (const double s : speedups) squares += (s - mean) * (s - mean);
    return std::sqrt(squares / static_cast<double>(speedups.size() - 1)) / mean;
  }
};

Result<Spread> repeat(Host& host, const std::shared_ptr<const Task>& task,
                      const std::string& source, std::size_t count, const std::string& what,
                      const Say& say) {
  Spread spread;
  for (std::size_t i = 0; i < count; ++i) {
    say("noise, " + what + ": " + std::to_string(i + 1) + " of " + std::to_string(count));
    HONE_ASSIGN(const Verdict verdict, judge(host, task, source));
    if (!verdict.speedup) return internal_error("no speedup was measured");
    spread.speedups.push_back(verdict.speedup->value);
    if (verdict.speedup->low > 1 || verdict.speedup->high < 1) ++spread.missed;
    if (verdict.speedup->low > 1) ++spread.faster;
  }
  return spread;
}

void add_spread(Value& figures, const Spread& spread, const std::string& what, double goal) {
  const double deviation = spread.deviation();
  const auto count = static_cast<double>(spread.speedups.size());
  // "As often as it says": a 95 % interval misses one time in twenty; three standard errors of that
  // are allowed.
  const double allowed = 0.05 + 3 * std::sqrt(0.05 * 0.95 / count);
  const double missed = static_cast<double>(spread.missed) / count;
  figures.push(figure_to_value(
      {"noise_" + what + "_deviation", "%", deviation * 100, goal * 100, deviation / goal,
       "value <= " + std::to_string(static_cast<int>(goal * 100)), deviation <= goal}));
  figures.push(
      figure_to_value({"noise_" + what + "_interval_misses_1", "%", missed * 100, 5, missed / 0.05,
                       "about 5, as a 95 % interval says", missed <= allowed}));
  figures.push(
      figure_to_value({"noise_" + what + "_false_faster", "%",
                       100 * static_cast<double>(spread.faster) / count, 2.5, kNone, "", true}));
}

}  // namespace

Result<Value> bench_step(const Config& configured, const std::string& id, std::size_t count,
                         const Say& say) {
  Config config = configured;  // as many pairs on both sides, whatever the time
  config.evaluate.measure.pairs_max = config.evaluate.measure.pairs_min;
  HONE_ASSIGN(const auto host, Host::start(config, say));
  Bare bare;
  HONE_ASSIGN(bare.task, host->catalog().find(id));
  const std::string source = bare.task->backends.at(config.backend).baseline.text;
  HONE_TRY(bare.prepare(*host, config));
  Stages warm, ours, theirs;
  HONE_TRY(run_hone(*host, bare.task, unseen(source), warm, &bare.call_seconds));
  HONE_TRY(bare.run(unseen(source), warm));
  double ignored = 0;
  for (std::size_t i = 0; i < count; ++i) {
    say("step: " + std::to_string(i + 1) + " of " + std::to_string(count));
    HONE_TRY(run_hone(*host, bare.task, unseen(source), ours, &ignored));
    HONE_TRY(bare.run(unseen(source), theirs));
  }
  say("step: evaluations per second");
  HONE_ASSIGN(const double hone_rate, throughput_of_hone(*host, bare.task, source, count));
  double bare_s = 0;
  for (const double ms : theirs.total) bare_s += ms * 1e-3;
  const double bare_rate = static_cast<double>(count) / bare_s;

  Value figures = Value::array();
  const double added = median(ours.total) - median(theirs.total);
  figures.push(
      figure_to_value({"step_added", "ms", added, median(theirs.total),
                       median(ours.total) / median(theirs.total), "value <= 5", added <= 5}));
  const auto stage = [&](const char* name, const std::vector<double>& a,
                         const std::vector<double>& b) {
    figures.push(figure_to_value({std::string("step_added_in_") + name, "ms", median(a) - median(b),
                                  median(b), kNone, "", true}));
  };
  stage("build", ours.build, theirs.build);
  stage("check", ours.check, theirs.check);
  stage("measure", ours.measure, theirs.measure);
  stage("elsewhere", ours.elsewhere, theirs.elsewhere);
  figures.push(figure_to_value({"evaluations", "1/s", hone_rate, bare_rate, hone_rate / bare_rate,
                                "ratio >= 0.9", hone_rate / bare_rate >= 0.9}));
  return figures;
}

Result<Value> bench_noise(const Config& config, const std::string& id, std::size_t count,
                          const Say& say) {
  HONE_ASSIGN(const auto host, Host::start(config, say));
  HONE_ASSIGN(const auto task, host->catalog().find(id));
  const std::string source = task->backends.at(config.backend).baseline.text;
  HONE_ASSIGN(const EvaluatorOptions options, evaluator_options(config, host->registry()));
  HONE_ASSIGN(const Spread idle, repeat(*host, task, source, count, "other core idle", say));
  std::atomic<bool> stop{false};
  std::thread busy([&stop, cpu = options.devices.front().judge_cpu] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  const auto loaded = repeat(*host, task, source, count, "other core busy", say);
  stop = true;
  busy.join();
  HONE_TRY(loaded);
  Value figures = Value::array();
  add_spread(figures, idle, "idle", 0.02);
  add_spread(figures, *loaded, "busy", 0.03);
  return figures;
}

}  // namespace hone
