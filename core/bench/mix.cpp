// Submissions of many tasks, correct and wrong, in a fixed random order.
#include "bench/mix.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "base/mutex.hpp"
#include "base/utf8.hpp"
#include "bench/load.hpp"
#include "bench/plain_harness.hpp"
#include "evaluate/sources.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr int kPlainMost = 32;                      // most submissions for the plain harness
constexpr std::uint64_t kOrderSeed = 31;            // seed of the random order
constexpr double kMixGoal = 15, kCorrectGoal = 12;  // evaluations per second on a device
constexpr double kTimesGoal = 1;        // relative to the plain harness, without a device
constexpr std::size_t kFaultMax = 160;  // longest quotation of a fault in a figure's name (bytes)

/// Indices of submissions of the mix, in the order of evaluation.
using Places = std::vector<std::size_t>;

/// The results of one pass.
struct Pass {
  std::size_t count = 0;
  double seconds = 0;
  std::vector<double> latencies_ms;  // of submissions with a verdict
  std::map<std::string, double> right_ms,
      other_ms;  // sums by stage, for correct and for other submissions
  std::map<Outcome, int> outcomes;
  Places correct;
  std::size_t faults = 0;
  std::string first_fault;

  double rate() const { return static_cast<double>(latencies_ms.size()) / seconds; }
};

/// Of the plain harness. A submission that it cannot judge counts with the time until then.
struct PlainPass {
  int count = 0, correct = 0;
  double seconds = 0;
  std::vector<double> latencies_ms;

  double rate() const { return count / seconds; }
};

class MixBench {
 public:
  MixBench(Launcher& launcher, const EvaluatorOptions& options, const MixBenchOptions& bench)
      : launcher_(launcher),
        options_(options),
        bench_(bench),
        mix_(bench.mix.submissions),
        count_(bench.count > 0 ? static_cast<std::size_t>(bench.count) : mix_.size()) {}

  Result<Value> run() {
    HONE_TRY(hone());
    HONE_ASSIGN(const PlainHarness plain, PlainHarness::make(launcher_, options_));
    HONE_ASSIGN(plain_, by_plain_harness(plain, order_, "plain harness"));
    HONE_ASSIGN(plain_right_,
                by_plain_harness(plain, right_order_, "plain harness, correct ones alone"));
    tell_rates();
    tell_costs();
    tell_counts();
    return figures_;
  }

 private:
  /// `count` indices in random order, each about equally often.
  Places shuffled(const Places& which, std::size_t count) {
    Places order;
    while (order.size() < count && !which.empty()) {
      Places once = which;
      std::shuffle(once.begin(), once.end(), random_);
      once.resize(std::min(once.size(), count - order.size()));
      order.insert(order.end(), once.begin(), once.end());
    }
    return order;
  }

  void say(const std::string& what, std::size_t done, std::size_t all) const {
    bench_.say(what + ": " + std::to_string(done) + " of " + std::to_string(all));
  }

  Status hone() {
    HONE_ASSIGN(const auto evaluator, make_evaluator(launcher_, options_, "bench"));
    Places all(mix_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    first_ = judge(*evaluator, shuffled(all, all.size()), "first pass");
    HONE_TRY(check_judged(first_));
    std::sort(first_.correct.begin(), first_.correct.end());
    memory_before_ = static_cast<double>(resident_bytes());
    order_ = shuffled(all, count_);
    const auto processes = processes_of(*evaluator);
    timed_ = judge(*evaluator, order_, "the mix");
    HONE_TRY(check_judged(timed_));
    if (processes) processes_ = *processes_of(*evaluator) - *processes;
    const double share =
        static_cast<double>(first_.correct.size()) / static_cast<double>(mix_.size());
    const auto right = static_cast<std::size_t>(share * static_cast<double>(count_) + 0.5);
    right_order_ = shuffled(first_.correct, std::max<std::size_t>(right, 1));
    right_ = judge(*evaluator, right_order_, "correct ones alone");
    memory_after_ = static_cast<double>(resident_bytes());
    return {};
  }

  static Status check_judged(const Pass& pass) {
    if (!pass.latencies_ms.empty()) return {};
    return failed_precondition("nothing of the mix was judged: " + pass.first_fault);
  }

  /// Interpreters that submissions have used on devices so far, if the evaluator counts them.
  std::optional<double> processes_of(const Evaluator& evaluator) const {
    if (!options_.device_code) return {};
    const Value stats = evaluator.stats();
    const Value* found = stats.find("module_processes");
    if (found == nullptr || !found->is_number()) return {};
    return found->as_double();
  }

  /// Evaluates all submissions, with `in_flight` of them at a time.
  Pass judge(Evaluator& evaluator, const Places& order, const std::string& what) {
    Pass pass;
    pass.count = order.size();
    Mutex mutex;
    std::size_t done = 0;
    const double begun = monotonic_s();
    (void)in_parallel(static_cast<int>(order.size()), bench_.in_flight, [&](int i) -> Status {
      const std::size_t place = order[static_cast<std::size_t>(i)];
      Submission submission = mix_[place];
      const int number = numbers_++;
      submission.source = numbered(submission.source, number);
      submission.seed = static_cast<std::uint64_t>(number) + 1;
      const double from = monotonic_s();
      const auto verdict = judge_and_wait(evaluator, std::move(submission));
      const double ms = (monotonic_s() - from) * 1e3;
      const MutexLock lock(mutex);
      take(pass, place, verdict, ms);
      say(what, ++done, order.size());
      return {};
    });
    pass.seconds = monotonic_s() - begun;
    return pass;
  }

  void take(Pass& pass, std::size_t place, const Result<Verdict>& verdict, double ms) const {
    if (!verdict) {
      if (pass.faults++ == 0)
        pass.first_fault = mix_[place].episode + ": " + verdict.error().message;
      return;
    }
    pass.latencies_ms.push_back(ms);
    ++pass.outcomes[verdict->outcome];
    if (verdict->correct()) pass.correct.push_back(place);
    auto& sums = verdict->correct() ? pass.right_ms : pass.other_ms;
    for (const auto& [stage, took_ms] : verdict->stage_ms) sums[stage] += took_ms;
  }

  /// The first fault, for the figure's name.
  Result<PlainPass> by_plain_harness(const PlainHarness& plain, const Places& order,
                                     const std::string& what) {
    PlainPass pass;
    pass.count = std::min(static_cast<int>(order.size()), kPlainMost);
    Mutex mutex;
    const double begun = monotonic_s();
    HONE_TRY(in_parallel(pass.count, bench_.at_once, [&](int i) -> Status {
      const Submission& submission = mix_[order[static_cast<std::size_t>(i)]];
      const double from = monotonic_s();
      const auto exit =
          plain.run(*submission.task, submission.source, numbers_++, options_.evaluation_seconds);
      if (!exit && exit.error().code != Code::kDeadlineExceeded) return exit.error();
      const double ms = (monotonic_s() - from) * 1e3;
      const MutexLock lock(mutex);
      pass.latencies_ms.push_back(ms);
      if (exit && exit->exit_code == 0) ++pass.correct;
      say(what, pass.latencies_ms.size(), static_cast<std::size_t>(pass.count));
      return {};
    }));
    pass.seconds = monotonic_s() - begun;
    return pass;
  }

  void tell_rate(const std::string& name, const Pass& pass, const PlainPass& plain, double goal) {
    const double rate = pass.rate(), beside = plain.rate();
    const bool device = options_.device_code;
    figures_.push(
        figure("mix: evaluations per second" + name, rate, "1/s", beside,
               device ? "value >= " + std::to_string(static_cast<int>(goal)) : "ratio >= 1",
               device ? rate >= goal : rate / beside >= kTimesGoal));
  }

  void tell_rates() {
    tell_rate("", timed_, plain_, kMixGoal);
    if (right_.count > 0) tell_rate(", correct ones alone", right_, plain_right_, kCorrectGoal);
    figures_.push(
        figure("mix: evaluations per second, first pass", first_.rate(), "1/s", plain_.rate()));
    for (const auto& [name, q] : {std::pair("p50", 0.5), std::pair("p99", 0.99)}) {
      figures_.push(figure(std::string("mix: latency, ") + name, quantile(timed_.latencies_ms, q),
                           "ms", quantile(plain_.latencies_ms, q)));
    }
  }

  /// The mean time of each stage.
  void tell_stages(const std::string& whose, const std::map<std::string, double>& sums,
                   double count) {
    for (const char* stage :
         {"build", "wait", "attempts", "prepare", "load", "check", "measure", "second_look"}) {
      const auto sum = sums.find(stage);
      if (sum == sums.end()) continue;
      figures_.push(
          figure(std::string("mix: ") + stage + " " + whose + ", mean", sum->second / count, "ms"));
    }
  }

  void tell_costs() {
    const auto judged = static_cast<double>(timed_.latencies_ms.size());
    const auto right = static_cast<double>(timed_.correct.size());
    tell_stages("of the correct ones", timed_.right_ms, right);
    tell_stages("of the others", timed_.other_ms, judged - right);
    if (processes_) {
      figures_.push(figure("mix: device processes per evaluation", *processes_ / judged,
                           "processes",
                           1));  // the plain harness starts one for each
    }
    figures_.push(figure("mix: memory of this process after the timed passes, over before",
                         memory_after_ / 1e6, "MB", memory_before_ / 1e6));
  }

  /// Counts; the baseline of each is the total.
  void tell_counts() {
    const auto tell = [this](const std::string& name, double found, std::size_t all) {
      figures_.push(figure("mix: " + name, found, "submissions", static_cast<double>(all)));
    };
    tell("timed, over what the mix has", static_cast<double>(timed_.count), mix_.size());
    timed_.outcomes.try_emplace(Outcome::kCorrect, 0);
    for (const auto& [outcome, found] : timed_.outcomes)
      tell(std::string(outcome_name(outcome)), found, timed_.count);
    tell("correct by the plain harness", plain_.correct, static_cast<std::size_t>(plain_.count));
    if (const std::size_t other = right_.latencies_ms.size() - right_.correct.size(); other > 0)
      tell("of the correct ones alone, not correct again", static_cast<double>(other),
           right_.count);
    if (bench_.mix.without_code > 0) {
      tell("without code, left out", bench_.mix.without_code,
           mix_.size() + static_cast<std::size_t>(bench_.mix.without_code));
    }
    for (const Pass* pass : {&first_, &timed_, &right_}) {
      if (pass->faults == 0) continue;
      figures_.push(figure("mix: not judged, first " + cut_end(pass->first_fault, kFaultMax),
                           static_cast<double>(pass->faults), "submissions",
                           static_cast<double>(pass->count), "none", false));
    }
  }

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  const MixBenchOptions& bench_;
  const std::vector<Submission>& mix_;
  const std::size_t count_;
  std::mt19937_64 random_{kOrderSeed};
  std::atomic<int> numbers_{0};  // makes each source unique
  Places order_, right_order_;   // for the timed passes
  Pass first_, timed_, right_;
  PlainPass plain_, plain_right_;
  double memory_before_ = 0, memory_after_ = 0;
  std::optional<double> processes_;
  Value figures_ = Value::array();
};

}  // namespace

Result<Value> bench_mix(Launcher& launcher, const EvaluatorOptions& options,
                        const MixBenchOptions& bench) {
  if (bench.mix.submissions.empty())
    return failed_precondition("the mix has no code; expected at least one submission");
  for (const Submission& submission : bench.mix.submissions)
    HONE_TRY(check_module(*submission.task, options));
  return MixBench(launcher, options, bench).run();
}

}  // namespace hone
