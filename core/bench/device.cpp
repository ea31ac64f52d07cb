// Evaluates many submissions on one device, and times kernels of known duration with two clocks.
#include "bench/device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "base/mutex.hpp"
#include "judge/timing/statistics.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr int kAtOnce = 16;
constexpr double kRateGoal = 30;      // evaluations per second
constexpr double kNoiseGoal = 0.02;   // of a speedup whose true value is 1
constexpr double kClockGoal = 0.002;  // relative to the device's own clock
constexpr int kClockRuns = 5;

/// A kernel of adjustable duration: one element for each thread, and a number of dependent steps.
std::string steps_source(const char* entry, const char* type, int steps) {
  return std::string("extern \"C\" __global__ void ") + entry + "(const float* x, " + type +
         "* out, long long n) {\n"
         "  long long i = blockIdx.x * 256ll + threadIdx.x;\n"
         "  if (i >= n) return;\n  " +
         type + " v = x[i];\n  for (int k = 0; k < " + std::to_string(steps) + "; ++k) v = v * (" +
         type + ")0.75 + (" + type + ")0.125;\n  out[i] = v + x[i];\n}\n";
}

constexpr const char* kFault =
    "extern \"C\" __global__ void steps(const float* x, float* out, long long n) {\n"
    "  if (threadIdx.x == 0) *(volatile float*)(out + (1ll << 40)) = x[0];\n}\n";

std::shared_ptr<const Task> steps_task(const std::string& backend, int steps,
                                       std::int64_t threads) {
  const std::string launch = " grid = ceil_div(n, 256) block = 256\n";
  Task task;
  task.dataset = "bench";
  task.id = "steps_" + std::to_string(steps);
  task.entry = "steps";
  task.dims = {"n"};
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n", 0, 0}};
  task.arguments = {"x", "out", "n"};
  task.shown = {{{"n", 1000}}};
  task.timed = {{"n", threads}};
  task.families = {{"normal", {}, {}}};
  task.tolerance.rtol = 1e-5;
  task.tolerance.atol = 1e-5;
  task.backends[backend] = {
      {backend},
      {"reference.cu", "// hone: plan reference\n// hone: launch reference" + launch +
                           "// hone: plan exact\n// hone: launch exact" + launch +
                           steps_source("reference", "float", steps) +
                           steps_source("exact", "double", steps)},
      {"baseline.cu", "// hone: launch steps" + launch + steps_source("steps", "float", steps)},
      {}};
  return std::make_shared<const Task>(std::move(task));
}

struct Judged {
  Verdict verdict;
  double seconds = 0;  ///< from submit() to the verdict
};

/// State shared by callback threads and the waiting thread.
struct Board {
  Mutex mutex;
  Condition changed;
  std::size_t done HONE_GUARDED_BY(mutex) = 0;
  std::string failure HONE_GUARDED_BY(mutex);
};

class DeviceBench {
 public:
  DeviceBench(Launcher& launcher, const EvaluatorOptions& options, const DeviceBenchOptions& bench)
      : launcher_(launcher), options_(options), bench_(bench) {}

  Result<Value> run() {
    const auto memory = static_cast<double>(resident_bytes());
    HONE_TRY(rates());
    HONE_TRY(noise());
    HONE_TRY(clocks());
    HONE_TRY(faults());
    figures_.push(figure("gpu: memory of this process at the end, over the start",
                         static_cast<double>(resident_bytes()) / 1e6, "MB", memory / 1e6));
    return figures_;
  }

 private:
  std::string baseline(const Task& task) const {
    return task.backends.at(options_.backend).baseline.text;
  }

  Submission submission(const std::shared_ptr<const Task>& task, const std::string& source) {
    Submission s;
    s.task = task;
    s.backend = options_.backend;
    s.language = options_.language;
    // A unique source, so that the build cache does not apply. The change is at the end, because the plan
    // must come first.
    s.source = source + "\n// " + std::to_string(++number_) + "\n";
    s.client = "bench";
    s.episode = std::to_string(number_);
    s.seed = static_cast<std::uint64_t>(number_);
    return s;
  }

  /// Evaluates all submissions, `at_once` at a time.
  Result<std::vector<Judged>> judge(Evaluator& evaluator, const std::vector<Submission>& all,
                                    int at_once, const std::string& what) {
    const auto board = std::make_shared<Board>();
    std::vector<Judged> judged(all.size());
    for (std::size_t next = 0, done = 0; done < all.size();) {
      for (; next < all.size() && next - done < static_cast<std::size_t>(at_once); ++next) {
        const double start = monotonic_s();
        const auto take = [board, start, &judged, next](Result<Verdict> verdict) {
          MutexLock lock(board->mutex);
          if (!verdict) board->failure = verdict.error().message;
          if (verdict) judged[next] = {std::move(*verdict), monotonic_s() - start};
          ++board->done;
          board->changed.notify_all();
        };
        HONE_ASSIGN([[maybe_unused]] const std::uint64_t id, evaluator.submit(
                                                                 all[next], [](Stage) {}, take));
      }
      MutexLock lock(board->mutex);
      while (board->done == done) board->changed.wait(board->mutex);
      done = board->done;
      if (!board->failure.empty() && next == done) return unavailable(board->failure);
      if (bench_.say)
        bench_.say(what + ": " + std::to_string(done) + " of " + std::to_string(all.size()));
    }
    return judged;
  }

  Result<std::vector<Judged>> judge_same(Evaluator& evaluator, int count, int at_once,
                                         const std::string& what, double* seconds) {
    std::vector<Submission> warm{submission(bench_.task, baseline(*bench_.task))}, all;
    for (int i = 0; i < count; ++i) all.push_back(submission(bench_.task, warm[0].source));
    HONE_TRY(judge(evaluator, warm, 1, what));
    const double start = monotonic_s();
    HONE_ASSIGN(auto judged, judge(evaluator, all, at_once, what));
    *seconds = monotonic_s() - start;
    for (const Judged& one : judged) {
      if (!one.verdict.speedup) return internal_error(what + ": " + one.verdict.reason);
    }
    return judged;
  }

  /// A percentile of the values that `of` gives for each result.
  template <typename Of>
  static double at(const std::vector<Judged>& judged, double share, Of of) {
    std::vector<double> values;
    for (const Judged& one : judged) values.push_back(of(one));
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

  Status rates() {
    double fresh_s = 0, seconds = 0;
    const int fresh_count = std::clamp(bench_.count / 4, 2, 32);
    {
      EvaluatorOptions fresh = options_;
      fresh.isolation = "fresh";
      HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, fresh, "bench"));
      HONE_TRY(judge_same(*evaluator, fresh_count, kAtOnce, "a process for each", &fresh_s));
    }
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    HONE_ASSIGN(const auto judged,
                judge_same(*evaluator, bench_.count, kAtOnce, "sixteen at once", &seconds));
    const double rate = bench_.count / seconds;
    figures_.push(figure("gpu: evaluations per second, over a process for each", rate, "1/s",
                         fresh_count / fresh_s)
                      .set("goal", kRateGoal)
                      .set("holds", rate >= kRateGoal));
    double leased = 0;
    for (const char* stage : {"build", "prepare", "load", "check", "measure"}) {
      const auto ms = [&](const Judged& one) { return one.verdict.stage_ms.at(stage); };
      figures_.push(figure(std::string("gpu: ") + stage + ", p50", at(judged, 0.5, ms), "ms"));
      if (std::string_view(stage) == "build") continue;
      for (const Judged& one : judged) leased += ms(one) * 1e-3;
    }
    figures_.push(figure("gpu: time on the device, over all", leased, "s", seconds));
    const auto ms = [](const Judged& one) { return one.seconds * 1e3; };
    figures_.push(figure("gpu: answer, p50", at(judged, 0.5, ms), "ms"));
    figures_.push(figure("gpu: answer, p99", at(judged, 0.99, ms), "ms"));
    add_noise(judged, "builders busy");
    return {};
  }

  Status noise() {
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    double seconds = 0;
    HONE_ASSIGN(const auto judged,
                judge_same(*evaluator, std::min(bench_.count, 100), 1, "one at a time", &seconds));
    add_noise(judged, "alone");
    const auto floor = [](const Judged& one) { return one.verdict.speedup->floor_us; };
    figures_.push(figure("gpu: a round that does nothing (taken off each), p50",
                         at(judged, 0.5, floor), "us"));
    return {};
  }

  void add_noise(const std::vector<Judged>& judged, const std::string& name) {
    const double count = static_cast<double>(judged.size());
    double square = 0, faster = 0, slower = 0;
    for (const Judged& one : judged) {
      square += (one.verdict.speedup->value - 1) * (one.verdict.speedup->value - 1);
      faster += one.verdict.speedup->low > 1 + kNoiseGoal;
      slower += one.verdict.speedup->high < 1 - kNoiseGoal;
    }
    const double off = std::sqrt(square / count);
    figures_.push(
        figure("gpu: a baseline against itself, off by, " + name, off * 100, "%", kNoiseGoal * 100)
            .set("goal", kNoiseGoal * 100)
            .set("holds", off <= kNoiseGoal));
    figures_.push(figure("gpu: false 'faster by 2 %', " + name, faster / count * 100, "%")
                      .set("goal", kNoiseGoal * 100)
                      .set("holds", faster / count <= kNoiseGoal));
    figures_.push(figure("gpu: false 'slower by 2 %', " + name, slower / count * 100, "%")
                      .set("goal", kNoiseGoal * 100)
                      .set("holds", slower / count <= kNoiseGoal));
  }

  Status clocks() {
    EvaluatorOptions marked = options_;
    marked.measure.marked = true;
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, marked, "bench"));
    for (const int steps : bench_.steps) {
      const auto task = steps_task(options_.backend, steps, bench_.threads);
      std::vector<Submission> all;
      for (int i = 0; i < std::min(kClockRuns, bench_.count); ++i)
        all.push_back(submission(task, baseline(*task)));
      HONE_ASSIGN(const auto judged, judge(*evaluator, all, 1, "two clocks"));
      std::vector<double> ours, theirs, ratios;
      for (const Judged& one : judged) {
        if (!one.verdict.speedup || one.verdict.speedup->marked_us <= 0)
          return unavailable("two clocks: " + (one.verdict.speedup ? "the device has no clock"
                                                                   : one.verdict.reason));
        ours.push_back(one.verdict.speedup->baseline_us);
        theirs.push_back(one.verdict.speedup->marked_us);
        ratios.push_back(ours.back() / theirs.back());
      }
      char name[80];
      std::snprintf(name, sizeof name, "gpu: judge's clock over the device's, %.3g us",
                    median(theirs));
      const double ratio = median(ratios);
      figures_.push(figure(name, median(ours), "us", median(theirs))
                        .set("ratio", ratio)
                        .set("spread", *std::max_element(ratios.begin(), ratios.end()) -
                                           *std::min_element(ratios.begin(), ratios.end()))
                        .set("goal", 1.0)
                        .set("holds", std::abs(ratio - 1) <= kClockGoal));
    }
    return {};
  }

  Status faults() {
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    const auto task = steps_task(options_.backend, bench_.steps.front(), bench_.threads);
    const int count = std::clamp(bench_.count / 2, 5, 100);
    std::vector<Submission> sound, mixed;
    for (int i = 0; i < count; ++i) sound.push_back(submission(task, baseline(*task)));
    for (int i = 0; i < count; ++i)
      mixed.push_back(submission(task, i % 5 == 4 ? kFault : baseline(*task)));
    double seconds[2] = {};
    int correct = 0;
    for (const bool with : {false, true}) {
      const double start = monotonic_s();
      HONE_ASSIGN(const auto judged, judge(*evaluator, with ? mixed : sound, kAtOnce,
                                           with ? "every fifth faults" : "none faults"));
      seconds[with] = monotonic_s() - start;
      for (std::size_t i = 0; with && i < judged.size(); ++i) {
        const Outcome expected = i % 5 == 4 ? Outcome::kCrashed : Outcome::kCorrect;
        if (judged[i].verdict.outcome != expected)
          return internal_error("every fifth faults: found " +
                                std::string(outcome_name(judged[i].verdict.outcome)) + ": " +
                                judged[i].verdict.reason);
        correct += expected == Outcome::kCorrect;
      }
    }
    figures_.push(figure("gpu: evaluations per second of the others, every fifth faults",
                         correct / seconds[1], "1/s", count / seconds[0]));
    return {};
  }

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  const DeviceBenchOptions& bench_;
  Value figures_ = Value::array();
  int number_ = 0;
};

}  // namespace

Result<Value> bench_device(Launcher& launcher, const EvaluatorOptions& options,
                           const DeviceBenchOptions& bench) {
  if (!options.device_code)
    return invalid_argument("found backend " + options.backend +
                            ", expected a backend with device memory: set backend");
  return DeviceBench(launcher, options, bench).run();
}

}  // namespace hone
