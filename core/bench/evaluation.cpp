// The benchmarks `step` and `noise`.
#include "bench/evaluation.hpp"

#include <sched.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bench/loop.hpp"
#include "judge/timing/statistics.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

Submission submission_of(const EvaluateBenchOptions& bench, int number) {
  Submission s;
  s.task = bench.task;
  s.language = "c++";
  // A unique source, so that the build cache does not apply.
  s.source = "// " + std::to_string(number) + " of " + std::to_string(monotonic_ns()) + "\n" +
             bench.source;
  s.client = "bench";
  s.episode = std::to_string(number);
  s.seed = static_cast<std::uint64_t>(number) + 1;
  return s;
}

Result<Verdict> judge_one(Evaluator& evaluator, Submission submission) {
  Result<Verdict> verdict = judge_and_wait(evaluator, std::move(submission));
  if (verdict && !verdict->correct()) return internal_error("bench submission: " + verdict->reason);
  return verdict;
}

/// Seconds to evaluate all submissions, queued at once.
Result<double> judge_all(Evaluator& evaluator, const EvaluateBenchOptions& bench) {
  std::mutex mutex;
  std::condition_variable changed;
  int left = bench.steps;
  std::string failure;
  const double start = monotonic_s();
  for (int i = 0; i < bench.steps; ++i) {
    auto id = evaluator.submit(
        submission_of(bench, 1000 + i), [](Stage) {},
        [&](Result<Verdict> verdict) {
          std::lock_guard lock(mutex);
          if (!verdict) failure = verdict.error().message;
          --left;
          changed.notify_all();
        });
    if (!id) return id.error();
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  if (!failure.empty()) return unavailable(failure);
  return monotonic_s() - start;
}

struct Samples {
  std::vector<double> build, check, measure, total;
};

void add_stage(Value& figures, const char* stage, const std::vector<double>& hone,
               const std::vector<double>& plain) {
  const double with = median(hone), without = median(plain);
  figures.push(figure(std::string("step: ") + stage, with, "ms", without));
}

/// A thread that keeps a core busy until it is destroyed.
class BusyCore {
 public:
  explicit BusyCore(int cpu)
      : thread_([this, cpu] {
          cpu_set_t set;
          CPU_ZERO(&set);
          CPU_SET(static_cast<std::size_t>(cpu), &set);
          sched_setaffinity(0, sizeof set, &set);
          while (!stop_.load(std::memory_order_relaxed)) {
          }
        }) {}
  ~BusyCore() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

double deviation(const std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double x : values) mean += x / static_cast<double>(values.size());
  for (const double x : values)
    square += (x - mean) * (x - mean) / static_cast<double>(values.size() - 1);
  return std::sqrt(square);
}

Result<Value> noise_figures(Evaluator& evaluator, const EvaluateBenchOptions& bench,
                            const std::string& name, double goal, int offset) {
  std::vector<double> speedups;
  int missed = 0, faster = 0;
  for (int i = 0; i < bench.runs; ++i) {
    HONE_ASSIGN(const Verdict verdict, judge_one(evaluator, submission_of(bench, offset + i)));
    const Speedup& s = *verdict.speedup;
    speedups.push_back(s.value);
    missed += s.low > 1 || s.high < 1;
    faster += s.low > 1;
    if (bench.progress) bench.progress(offset + i + 1, 2 * bench.runs);
  }
  const double runs = bench.runs, sd = deviation(speedups);
  Value figures = Value::array();
  figures.push(figure("noise: deviation of the speedup, " + name, sd * 100, "%", goal * 100,
                      goal * 100, sd <= goal));
  const double share = missed / runs;
  figures.push(figure("noise: interval misses 1, " + name, share * 100, "%", 5.0, 5.0,
                      share <= 0.05 + 2 * std::sqrt(0.05 * 0.95 / runs)));
  figures.push(figure("noise: false 'faster', " + name, faster / runs * 100, "%", 2.5));
  return figures;
}

}  // namespace

Result<Value> bench_step(Launcher& launcher, const EvaluatorOptions& options,
                         const EvaluateBenchOptions& bench) {
  EvaluatorOptions fixed = options;
  fixed.measure.pairs_max =
      fixed.measure.pairs_min;  // both sides run the same number of rounds, whatever their speed
  HONE_ASSIGN(auto evaluator, make_evaluator(launcher, fixed, "bench"));
  HONE_ASSIGN(auto plain_loop, PlainLoop::create(fixed, bench.task));
  HONE_ASSIGN([[maybe_unused]] const Verdict warm, judge_one(*evaluator, submission_of(bench, -1)));
  Samples hone, plain;
  double plain_seconds = 0;
  for (int i = 0; i < bench.steps; ++i) {
    const Submission s = submission_of(bench, i);
    const std::string source = s.source;
    const std::uint64_t seed = s.seed;
    const double start = monotonic_s();
    HONE_ASSIGN(const Verdict verdict, judge_one(*evaluator, s));
    hone.total.push_back((monotonic_s() - start) * 1e3);
    hone.build.push_back(verdict.stage_ms.at("build"));
    hone.check.push_back(verdict.stage_ms.at("prepare") + verdict.stage_ms.at("load") +
                         verdict.stage_ms.at("check"));
    hone.measure.push_back(verdict.stage_ms.at("measure"));
    HONE_ASSIGN(const PlainLoop::Times times, plain_loop->step(source, seed));
    plain.total.push_back(times.total());
    plain.build.push_back(times.build_ms);
    plain.check.push_back(times.check_ms);
    plain.measure.push_back(times.measure_ms);
    plain_seconds += times.total() * 1e-3;
    if (bench.progress) bench.progress(i + 1, bench.steps);
  }
  HONE_ASSIGN(const double all_at_once, judge_all(*evaluator, bench));
  Value figures = Value::array();
  const double added = median(hone.total) - median(plain.total);
  figures.push(figure("step: added by hone", added, "ms", median(plain.total), 5.0, added <= 5.0)
                   .set("ratio", median(hone.total) / median(plain.total)));
  add_stage(figures, "build", hone.build, plain.build);
  add_stage(figures, "check", hone.check, plain.check);
  add_stage(figures, "measure", hone.measure, plain.measure);
  add_stage(figures, "total", hone.total, plain.total);
  const double rate = bench.steps / all_at_once, plain_rate = bench.steps / plain_seconds;
  figures.push(figure("step: evaluations per second", rate, "1/s", plain_rate, 0.9,
                      rate / plain_rate >= 0.9));
  return figures;
}

Result<Value> bench_noise(Launcher& launcher, const EvaluatorOptions& options,
                          const EvaluateBenchOptions& bench) {
  HONE_ASSIGN(auto evaluator, make_evaluator(launcher, options, "bench"));
  EvaluateBenchOptions same = bench;
  same.source = bench.task->backends.at(options.backend).baseline.text;
  HONE_ASSIGN([[maybe_unused]] const Verdict warm, judge_one(*evaluator, submission_of(same, -1)));
  HONE_ASSIGN(Value figures, noise_figures(*evaluator, same, "idle", 0.02, 0));
  const BusyCore busy(options.devices.front().judge_cpu);
  HONE_ASSIGN(const Value loaded,
              noise_figures(*evaluator, same, "other core busy", 0.03, same.runs));
  for (const Value& f : loaded.as_array()) figures.push(f);
  return figures;
}

}  // namespace hone
