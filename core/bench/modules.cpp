// Evaluates the same submissions with hone and with a plain harness.
#include "bench/modules.hpp"

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "bench/load.hpp"
#include "bench/plain_harness.hpp"
#include "judge/timing/statistics.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr int kAloneMost = 32;            // evaluations one at a time, and of the plain harness
constexpr double kPatience = 600;         // time limit of one evaluation by the plain harness (s)
constexpr double kRateOverPlainGoal = 1;  // relative to the plain harness
constexpr int kFaultEvery = 5;
/// A submission that faults: on a device it loses the context; elsewhere it ends the process.
constexpr const char* kFaultyModule = R"(import os

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, *arguments, **settings):
        super().__init__()

    def forward(self, x, *others):
        if x.device.type != "cpu":
            torch.zeros(1, device=x.device)[torch.full((1,), 1 << 40, device=x.device)].cpu()
        os._exit(3)
)";

class ModuleBench {
 public:
  ModuleBench(Launcher& launcher, const EvaluatorOptions& options, const ModuleBenchOptions& bench)
      : launcher_(launcher), options_(options), bench_(bench) {}

  Result<Value> run() {
    few_ = std::min(bench_.count, kAloneMost);
    HONE_TRY(plain());
    HONE_TRY(hone());
    return figures_;
  }

 private:
  Status plain_one(const PlainHarness& harness, int number) const {
    HONE_ASSIGN(const ProcessExit exit,
                harness.run(*bench_.task, bench_.source, number, kPatience));
    if (exit.exit_code == 0) return {};
    const std::string said = exit.output.substr(0, exit.output.find_last_not_of('\n') + 1);
    return invalid_argument("the plain harness does not find the submission correct" +
                            (said.empty() ? said : ": " + said.substr(said.rfind('\n') + 1)));
  }

  Status plain() {
    bench_.say("plain harness");
    HONE_ASSIGN(const PlainHarness harness, PlainHarness::make(launcher_, options_));
    const double start = monotonic_s();
    HONE_TRY(plain_one(harness, 0));
    plain_alone_s_ = monotonic_s() - start;
    const double begun = monotonic_s();
    HONE_TRY(in_parallel(few_, bench_.at_once, [&](int i) { return plain_one(harness, i); }));
    plain_rate_ = few_ / (monotonic_s() - begun);
    return {};
  }

  Result<Verdict> judged(Evaluator& evaluator, int number, bool faults = false) const {
    Submission s;
    s.task = bench_.task;
    s.backend = options_.backend;
    s.language = "python";
    s.source = numbered(faults ? kFaultyModule : bench_.source, number);
    s.client = "bench";
    s.episode = std::to_string(number);
    s.seed = static_cast<std::uint64_t>(number) + 1;
    HONE_ASSIGN(Verdict verdict, judge_and_wait(evaluator, std::move(s)));
    if (faults ? verdict.outcome != Outcome::kCrashed : !verdict.correct()) {
      return failed_precondition(
          std::string("hone does not find the submission ") + (faults ? "crashed" : "correct") +
          ": " + std::string(outcome_name(verdict.outcome)) + ", " + verdict.reason);
    }
    return verdict;
  }

  /// Seconds to evaluate submissions `from` to `from + count`, all queued at once.
  Result<double> all_at_once(Evaluator& evaluator, int count, int from, int fault_every) const {
    const double begun = monotonic_s();
    HONE_TRY(in_parallel(count, kBenchAtOnce, [&](int i) -> Status {
      const bool faults = fault_every > 0 && i % fault_every == fault_every - 1;
      const auto verdict = judged(evaluator, from + i, faults);
      return verdict ? Status() : Status(verdict.error());
    }));
    return monotonic_s() - begun;
  }

  Status hone() {
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    bench_.say("the first evaluation");
    const double start = monotonic_s();
    HONE_TRY(judged(*evaluator, -1));
    const double first_s = monotonic_s() - start;
    std::map<std::string, std::vector<double>> stages;
    for (int i = 0; i < few_; ++i) {
      bench_.say(std::to_string(i + 1) + " of " + std::to_string(few_) + " alone");
      HONE_ASSIGN(const Verdict verdict, judged(*evaluator, i));
      for (const auto& [stage, ms] : verdict.stage_ms) stages[stage].push_back(ms);
    }
    bench_.say(std::to_string(bench_.count) + " at once");
    const auto memory = static_cast<double>(resident_bytes());
    HONE_ASSIGN(const double seconds, all_at_once(*evaluator, bench_.count, few_, 0));
    const auto memory_after = static_cast<double>(resident_bytes());
    const double rate = bench_.count / seconds;
    const int mixed = std::max(few_, kFaultEvery);
    const int faults = mixed / kFaultEvery;
    bench_.say("every fifth faults");
    HONE_ASSIGN(const double mixed_seconds,
                all_at_once(*evaluator, mixed, few_ + bench_.count, kFaultEvery));
    const double times = rate / plain_rate_;
    figures_.push(figure("modules: evaluations per second", rate, "1/s", plain_rate_, "ratio >= 1",
                         times >= kRateOverPlainGoal));
    figures_.push(
        figure("modules: one alone", median(stages.at("total")), "ms", plain_alone_s_ * 1e3));
    for (const char* stage : {"build", "prepare", "load", "check", "measure"})
      figures_.push(figure(std::string("modules: ") + stage, median(stages.at(stage)), "ms"));
    figures_.push(figure("modules: a server's first", first_s * 1e3, "ms", plain_alone_s_ * 1e3));
    figures_.push(figure("modules: evaluations per second of the others, every fifth faults",
                         (mixed - faults) / mixed_seconds, "1/s", rate));
    figures_.push(figure("modules: memory of this process after those at once, over before",
                         memory_after / 1e6, "MB", memory / 1e6));
    return {};
  }

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  const ModuleBenchOptions& bench_;
  int few_ = 0;
  double plain_alone_s_ = 0, plain_rate_ = 0;
  Value figures_ = Value::array();
};

}  // namespace

Result<Value> bench_modules(Launcher& launcher, const EvaluatorOptions& options,
                            const ModuleBenchOptions& bench) {
  HONE_TRY(check_module(*bench.task, options));
  return ModuleBench(launcher, options, bench).run();
}

}  // namespace hone
