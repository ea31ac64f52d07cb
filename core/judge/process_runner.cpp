// Orders, options and the clock.
#include "judge/process_runner.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/memory.hpp"
#include "base/priority.hpp"
#include "base/utf8.hpp"
#include "hone/recorded_plan.hpp"

namespace hone {
namespace {

constexpr double kFreezeTimeout = 2.0, kFreezeLookSeconds = 0.2, kTrimSeconds = 10.0;
// A limit counts the candidate's own time. By the clock it may take this many times as long, because other processes may
// have its cores. Beyond that it is starved.
constexpr double kClockFactor = 10;

std::string over_all_time(double seconds) {
  char text[80];
  std::snprintf(text, sizeof text, "over the %g s that all of its calls may take", seconds);
  return text;
}

Watched watched_of(const RunnerOptions& options) {
  if (options.module) return Watched::kTree;
  return options.one_thread ? Watched::kFirstThread : Watched::kThreads;
}

void sleep_us(long us) {
  const timespec pause{0, us * 1000};
  nanosleep(&pause, nullptr);
}

}  // namespace

Result<std::unique_ptr<ProcessRunner>> ProcessRunner::create(std::unique_ptr<Arena> arena,
                                                             RunnerHandles handles,
                                                             RunnerOptions options) {
  std::unique_ptr<ProcessRunner> runner(new ProcessRunner());
  runner->handles_ = std::move(handles);
  runner->arena_ = std::move(arena);
  runner->options_ = options;
  HONE_ASSIGN(runner->orders_fd_, shared_region("hone-orders", kOrdersBytes));
  HONE_ASSIGN(void* orders, map_region(runner->orders_fd_.get(), kOrdersBytes, true));
  runner->orders_ = static_cast<Orders*>(orders);
  HONE_TRY(forbid_further_writers(runner->orders_fd_.get()));
  HONE_ASSIGN(runner->answers_fd_, shared_region("hone-answers", kAnswersBytes));
  HONE_ASSIGN(void* answers, map_region(runner->answers_fd_.get(), kAnswersBytes, false));
  runner->answers_ = static_cast<const Answers*>(answers);
  const RunnerHandles& process = runner->handles_;
  if (!options.device_code) runner->delayed_ = RunDelay(process.pid);
  runner->starved_ =
      StarvedTime(ProcessWatch(process.pid, watched_of(options), process.freeze.get()));
  return runner;
}

ProcessRunner::~ProcessRunner() {
  if (frozen_)
    static_cast<void>(thaw());  // the process will be killed, and a frozen one would not end
  freezer_.reset();
  if (orders_ != nullptr) munmap(orders_, kOrdersBytes);
  if (answers_ != nullptr) munmap(const_cast<Answers*>(answers_), kAnswersBytes);
}

/// Rationale: a submission that is slow in every round, each time within the limit, must reach its own total limit before the
/// host's limit of the judge.
double ProcessRunner::left_of(double timeout_s) const {
  if (options_.seconds_max <= 0) return timeout_s;
  return std::min(timeout_s, std::max(options_.seconds_max - spent_s_, 0.0));
}

/// resource_exhausted: it was starved. Rationale: a thread stops only once it gets a core, so a late freeze proves nothing.
Status ProcessRunner::stop_threads() {
  Status frozen = freezer_->freeze(kFreezeLookSeconds);
  const auto is_late = [&] { return !frozen && frozen.error().code == Code::kDeadlineExceeded; };
  if (!is_late()) return frozen;
  const double start_s = monotonic_s();
  starved_.begin();
  for (;;) {
    frozen = freezer_->freeze(kFreezeLookSeconds);
    if (!is_late()) return frozen;
    const auto over = over_time(monotonic_s() - start_s, kFreezeTimeout, kFreezeTimeout);
    if (over && over->ending == Ending::kStarved) return resource_exhausted(over->message);
    if (over) return frozen;
  }
}

Status ProcessRunner::freeze() {
  if (frozen_ || options_.device_code) return {};
  if (options_.defences.holds(Defence::kFreeze)) HONE_TRY(stop_threads());
  frozen_ = true;
  return {};
}

Status ProcessRunner::thaw() {
  if (!frozen_) return {};
  if (options_.module || options_.defences.holds(Defence::kFreeze)) HONE_TRY(freezer_->thaw());
  frozen_ = false;
  return {};
}

RoundValues& ProcessRunner::values(std::size_t call) {
  HONE_ASSERT(call < kCallsMax);
  static_assert(sizeof(RoundValues) == sizeof orders_->values[0]);
  return *reinterpret_cast<RoundValues*>(orders_->values[call]);
}

std::uint32_t ProcessRunner::give(Order order, std::size_t calls, bool spin) {
  HONE_ASSERT(calls <= kCallsMax);
  starved_.begin();
  orders_->order = order;
  orders_->calls = static_cast<std::uint32_t>(calls);
  orders_->wake = spin ? 0 : 1;
  const std::uint32_t round = orders_->go.load(std::memory_order_relaxed) + 1;
  orders_->go.store(round, std::memory_order_release);
  if (options_.device_code) futex_wake(orders_->go);
  return round;
}

bool ProcessRunner::ended() const {
  pollfd polled{handles_.pidfd.get(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

std::string ProcessRunner::over_memory_text() const {
  return "over the " + std::to_string(options_.memory_bytes_max >> 20) +
         " MB that the task grants (memory_mb)";
}

bool ProcessRunner::over_memory() const {
  if (options_.memory_bytes_max <= 0) return false;
  const bool of_threads = options_.defences.holds(Defence::kThreadMemory);
  const ProcessMemory memory = memory_of(handles_.pid, of_threads);
  return memory.resident - memory.shared > options_.memory_bytes_max;
}

/// The part of a time by the clock in which the candidate was starved.
double ProcessRunner::starved_s(double passed_s) const {
  if (!options_.defences.holds(Defence::kOwnWaits)) return passed_s - starved_.ran_s();
  return std::min(starved_.seconds(), passed_s);
}

Round ProcessRunner::starved(double passed_s) const {
  char text[160];
  std::snprintf(
      text, sizeof text,
      "it had %.2f s of processor time in %.1f s; the machine is too busy, or was stopped",
      starved_.ran_s(), passed_s);
  return {Ending::kStarved, passed_s, text};
}

/// The ending of a round whose time is over; nothing while it is not. `limit_s`: the time left to the candidate; `timeout_s`:
/// the limit of one round.
std::optional<Round> ProcessRunner::over_time(double passed_s, double limit_s, double timeout_s) {
  starved_.sample();
  if (passed_s <= limit_s) return std::nullopt;
  const double own_s =
      options_.defences.holds(Defence::kOwnWaits) ? starved_.own_s() : starved_.ran_s();
  if (own_s > limit_s || limit_s <= 0) {
    const bool of_all = limit_s < timeout_s;
    return Round{Ending::kTimedOut, passed_s, of_all ? over_all_time(options_.seconds_max) : ""};
  }
  if (passed_s - starved_.halted_s() <= kClockFactor * timeout_s) return std::nullopt;
  return starved(passed_s);
}

/// Adds a finished round to the candidate's time.
void ProcessRunner::spend(Round& round) {
  round.halted_seconds = starved_.halted_s();
  const double delayed_s = options_.one_thread ? round.delayed_seconds : 0;
  spent_s_ += round.seconds - std::max(starved_s(round.seconds), delayed_s);
}

Round ProcessRunner::wait_done(std::uint32_t round, double timeout_s, bool spin) {
  const double start = monotonic_s(), limit_s = left_of(timeout_s);
  double next_look = start + 1e-3;
  for (;;) {
    for (int look = 0; look < 200; ++look) {
      if (answers_->done.load(std::memory_order_acquire) == round) {
        const Answer answer = answers_->answer;
        if (answer == Answer::kFine) return {};
        char text[sizeof answers_->message];
        std::memcpy(text, answers_->message, sizeof text);
        text[sizeof text - 1] = '\0';
        if (answer == Answer::kOutOfMemory) {
          return {Ending::kOutOfMemory, 0,
                  text[0] != '\0' ? printable_ascii(text) : "std::bad_alloc"};
        }
        if (answer == Answer::kFault && options_.device_code && !options_.module)
          return {Ending::kFault, 0, printable_ascii(text)};
        if (answer == Answer::kMismatch) return {Ending::kMismatch, 0, printable_ascii(text)};
        Round failed{Ending::kException, 0, printable_ascii(text)};
        failed.flags = answers_->flags;
        if (answer == Answer::kException) return failed;
        failed.ending = Ending::kRefused;
        if (failed.message.empty()) failed.message = "the launch failed";
        return failed;
      }
      if (!spin) break;
      __builtin_ia32_pause();
    }
    if (freezer_ != nullptr) freezer_->service();
    const double now = monotonic_s();
    if (!spin) {
      const std::uint32_t seen = answers_->done.load(std::memory_order_acquire);
      if (seen != round) futex_wait(answers_->done, seen, 0.001);
    } else if (now - start > 0.05) {
      sleep_us(20);  // too short to matter for rounds that are waited for asleep
    }
    if (now < next_look) continue;
    next_look = now + 2e-3;
    if (ended()) return {Ending::kDied, 0, {}};
    if (auto over = over_time(now - start, limit_s, timeout_s)) return *over;
    if (over_memory()) return {Ending::kOutOfMemory, 0, over_memory_text()};
  }
}

/// The device must be in the candidate's context when the clock starts: the judge's kernels, which made the inputs, have left it
/// in the judge's. A module gets its inputs later, from the judge's context, and pays for the change, as its baseline does.
Round ProcessRunner::device_round(Order order, std::size_t calls, double timeout_s) {
  if (!options_.module) {
    Round here = wait_done(give(Order::kNothing, 0, options_.spin), timeout_s, options_.spin);
    if (here.ending != Ending::kDone) return here;
  }
  const std::int64_t start = monotonic_ns();
  if (put_inputs_ != nullptr) {
    if (Status put = put_inputs_(); !put) return {Ending::kFault, 0, put.error().message};
  }
  Round result = wait_done(give(order, calls, options_.spin), timeout_s, options_.spin);
  const Status seen = witness_ != nullptr ? witness_->read() : Status();
  const std::int64_t stop = monotonic_ns();
  result.seconds = static_cast<double>(stop - start) * 1e-9;
  if (witness_ != nullptr) witness_->keep();
  result.marked_seconds = order == Order::kMarked ? answers_->marked_seconds : 0;
  spend(result);
  if (result.ending == Ending::kDone && !seen) return {Ending::kFault, 0, seen.error().message};
  return result;
}

Status ProcessRunner::prepare(Form form, const Dims& dims, std::uint64_t scratch_at) {
  return plans_.order(form, dims, scratch_at, orders_->launches, &orders_->launch_count);
}

std::uint64_t ProcessRunner::scratch_bytes(const Dims& dims) const {
  const auto bytes = plans_.scratch_bytes(dims);
  return bytes ? *bytes : 0;
}

void ProcessRunner::aim(const Layout& layout, std::uint64_t secret) {
  if (witness_ != nullptr) witness_->aim(*arena_, layout, secret);
}

std::string ProcessRunner::observed() const {
  char words[kObservedMax];
  std::memcpy(words, answers_->observed, sizeof words);
  words[sizeof words - 1] = '\0';
  return words;
}

std::vector<std::uint32_t> ProcessRunner::chosen_configurations() const {
  static_assert(kTunedKernelsMax == recorded::kTunedMax);
  std::uint32_t chosen[kTunedKernelsMax];
  std::memcpy(chosen, answers_->chosen, sizeof chosen);
  const std::size_t count = std::min<std::size_t>(answers_->chosen_count, kTunedKernelsMax);
  return {chosen, chosen + count};
}

Status ProcessRunner::give_inputs(std::function<Status()> put) {
  if (!options_.module || !options_.defences.holds(Defence::kWithhold)) return put();
  put_inputs_ = std::move(put);
  return {};
}

/// Not where the judge needs the same core.
void ProcessRunner::keep_core_busy(bool awake) {
  orders_->awake.store(awake && options_.spin ? 1 : 0, std::memory_order_relaxed);
}

/// Of the thread that makes the calls.
std::vector<int> ProcessRunner::cores() const {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(handles_.pid, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

void ProcessRunner::set_affinity(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  if (!cores.empty()) static_cast<void>(sched_setaffinity(handles_.pid, sizeof set, &set));
}

/// Rationale: only a control group also freezes processes that a module has started, and only hone can thaw it.
Result<bool> ProcessRunner::stand_still() {
  if (!can_stand_still() || ended()) return false;
  if (frozen_ || !options_.defences.holds(Defence::kStandStill)) return true;
  if (freezer_ == nullptr) {
    HONE_ASSIGN(freezer_,
                Freezer::with_cgroup(handles_.freeze.get(), handles_.frozen_events.get()));
  }
  HONE_TRY(stop_threads());
  frozen_ = true;
  return true;
}

Result<bool> ProcessRunner::outputs_unchanged_in(const Arena& arena) {
  return witness_ != nullptr ? witness_->is_unchanged(arena) : true;
}

Result<std::string> ProcessRunner::sample_outputs(const Layout& layout, std::uint64_t secret) {
  if (witness_ == nullptr) return std::string();
  witness_->aim(*arena_, layout, secret);
  return witness_->read_rows();
}

Round ProcessRunner::timed_round(Order order, std::size_t calls, double timeout_s) {
  if (options_.device_code) return device_round(order, calls, timeout_s);
  HONE_ASSERT(frozen_);
  const double delayed_before = delayed_.seconds();
  const std::uint32_t round = give(order, calls, options_.spin);
  const std::int64_t start = monotonic_ns();
  if (Status thawed = thaw(); !thawed) return {Ending::kFault, 0, thawed.error().message};
  futex_wake(orders_->go);
  Round result = wait_done(round, timeout_s, options_.spin);
  const Status stopped = freeze();
  const std::int64_t stop = monotonic_ns();
  result.seconds = static_cast<double>(stop - start) * 1e-9;
  result.delayed_seconds = std::clamp(delayed_.seconds() - delayed_before, 0.0, result.seconds);
  spend(result);
  if (result.ending == Ending::kDone && !stopped) {
    if (ended()) return {Ending::kDied, 0, {}};
    if (stopped.error().code == Code::kResourceExhausted)
      return {Ending::kStarved, 0, stopped.error().message};
    return {Ending::kFault, 0, stopped.error().message};
  }
  return result;
}

Round ProcessRunner::plain_round(Order order, std::size_t calls, double timeout_s) {
  if (Status thawed = thaw(); !thawed) return {Ending::kFault, 0, thawed.error().message};
  const bool spin = options_.device_code && options_.spin;
  const std::int64_t start = monotonic_ns();
  const std::uint32_t round = give(order, calls, spin);
  futex_wake(orders_->go);
  Round result = wait_done(round, timeout_s, spin);
  result.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  spend(result);
  return result;
}

Round ProcessRunner::trim() {
  return options_.module ? plain_round(Order::kTrim, 0, kTrimSeconds) : Round{};
}

/// Without root, a lowered priority cannot be raised again.
void ProcessRunner::set_urgent(bool urgent) {
  const bool of_submission = options_.seconds_max > 0 && !options_.device_code;
  if (!of_submission || geteuid() != 0) return;
  if (!options_.defences.holds(Defence::kBuilderTime)) urgent = true;
  set_priority_of_threads(handles_.pid, urgent ? kMeasurePriority : kCheckPriority);
}

void ProcessRunner::set_guards(const std::vector<Guard>& guards) {
  HONE_ASSERT(guards.size() <= kGuardsMax);
  std::copy(guards.begin(), guards.end(), orders_->guards);
  orders_->guard_count = static_cast<std::uint32_t>(guards.size());
}

}  // namespace hone
