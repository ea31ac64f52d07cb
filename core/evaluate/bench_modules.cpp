// The same submissions by hone and by a plain harness.
#include "evaluate/bench_modules.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "evaluate/sources.hpp"
#include "judge/statistics.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr int kAtOnce = 16;        // that hone is handed
constexpr double kPatience = 600;  // seconds, for one of the plain harness
constexpr double kRateGoal = 1;    // times the plain harness

/// Does `count` things, so many of them at once; the first error.
Status in_parallel(int count, int at_once, const std::function<Status(int)>& thing) {
  std::atomic<int> next{0};
  std::vector<Status> ends(static_cast<std::size_t>(at_once));
  std::vector<std::thread> threads;
  for (Status& end : ends) {
    threads.emplace_back([&] {
      for (int i = next++; i < count && end; i = next++) end = thing(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& end : ends) HONE_TRY(end);
  return {};
}

class ModuleBench {
 public:
  ModuleBench(Launcher& launcher, const EvaluatorOptions& options, const ModuleBenchOptions& bench)
      : launcher_(launcher), options_(options), bench_(bench) {}

  Result<Value> run() {
    HONE_ASSIGN(folder_, ScratchFolder::make());
    const std::string reference = bench_.task->backends.at(options_.backend).baseline.text;
    HONE_TRY(write_file(folder_.path() / "reference.py", reference));
    HONE_TRY(plain());
    HONE_TRY(hone());
    return figures_;
  }

 private:
  /// Another source each time: the cache must not answer.
  std::string source(int number) const {
    return bench_.source + "\n# " + std::to_string(number) + " of " +
           std::to_string(monotonic_ns()) + "\n";
  }

  Status plain_one(int number) {
    const auto file = folder_.path() / ("submission_" + std::to_string(number) + ".py");
    HONE_TRY(write_file(file, source(number)));
    const auto script = options_.libexec.parent_path() / "share/module/plain_modules.py";
    SpawnRequest spawn;
    spawn.jail = Jail::kJudge;  // none
    spawn.label = "plain harness";
    spawn.program = options_.toolchains.at("python").compiler;
    spawn.arguments = {"-I",
                       "-B",
                       script.string(),
                       module_place_of(options_),
                       (folder_.path() / "reference.py").string(),
                       file.string()};
    HONE_ASSIGN(const auto process, launcher_.spawn(spawn));
    HONE_ASSIGN(const ProcessExit exit, process->wait(kPatience));
    if (exit.exit_code == 0) return {};
    return failed_precondition("the plain harness does not find the submission correct" +
                               (exit.output.empty() ? std::string() : ": " + exit.output));
  }

  Status plain() {
    bench_.say("plain harness");
    const double start = monotonic_s();
    HONE_TRY(plain_one(0));
    plain_alone_s_ = monotonic_s() - start;
    const double begun = monotonic_s();
    HONE_TRY(in_parallel(bench_.count, bench_.at_once, [this](int i) { return plain_one(i); }));
    plain_rate_ = bench_.count / (monotonic_s() - begun);
    return {};
  }

  Result<Verdict> judged(Evaluator& evaluator, int number) const {
    Submission s;
    s.task = bench_.task;
    s.backend = options_.backend;
    s.language = "python";
    s.source = source(number);
    s.client = "bench";
    s.episode = std::to_string(number);
    s.seed = static_cast<std::uint64_t>(number) + 1;
    HONE_ASSIGN(Verdict verdict, judge_and_wait(evaluator, std::move(s)));
    if (!verdict.correct())
      return failed_precondition("hone does not find the submission correct: " + verdict.reason);
    return verdict;
  }

  Status hone() {
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    bench_.say("the first evaluation");
    const double start = monotonic_s();
    HONE_TRY(judged(*evaluator, -1));
    const double first_s = monotonic_s() - start;
    std::map<std::string, std::vector<double>> stages;
    for (int i = 0; i < bench_.count; ++i) {
      bench_.say(std::to_string(i + 1) + " of " + std::to_string(bench_.count) + " alone");
      HONE_ASSIGN(const Verdict verdict, judged(*evaluator, i));
      for (const auto& [stage, ms] : verdict.stage_ms) stages[stage].push_back(ms);
    }
    bench_.say(std::to_string(bench_.count) + " at once");
    const double begun = monotonic_s();
    const auto one = [&](int i) -> Status {
      const auto verdict = judged(*evaluator, 1000 + i);
      return verdict ? Status() : Status(verdict.error());
    };
    HONE_TRY(in_parallel(bench_.count, kAtOnce, one));
    const double rate = bench_.count / (monotonic_s() - begun);
    const double times = rate / plain_rate_;
    figures_.push(figure("modules: evaluations per second", rate, "1/s", plain_rate_, "ratio >= 1",
                         times >= kRateGoal));
    figures_.push(
        figure("modules: one alone", median(stages.at("total")), "ms", plain_alone_s_ * 1e3));
    for (const char* stage : {"build", "prepare", "load", "check", "measure"})
      figures_.push(figure(std::string("modules: ") + stage, median(stages.at(stage)), "ms"));
    figures_.push(figure("modules: a server's first", first_s * 1e3, "ms", plain_alone_s_ * 1e3));
    return {};
  }

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  const ModuleBenchOptions& bench_;
  ScratchFolder folder_;
  double plain_alone_s_ = 0, plain_rate_ = 0;
  Value figures_ = Value::array();
};

}  // namespace

Result<Value> bench_modules(Launcher& launcher, const EvaluatorOptions& options,
                            const ModuleBenchOptions& bench) {
  if (!is_module(*bench.task, options)) {
    return failed_precondition("task " + bench.task->id +
                               " is none of modules: --task kernelbench/level1/19, for example");
  }
  return ModuleBench(launcher, options, bench).run();
}

}  // namespace hone
