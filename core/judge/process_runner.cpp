// Orders, options and the clock.
#include "judge/process_runner.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/priority.hpp"
#include "judge/send_setup.hpp"

namespace hone {
namespace {

constexpr double kFreezeTimeout = 2.0;
constexpr double kSetupTimeout = 10.0;
constexpr double kHangUpSeconds = 1.0;
constexpr double kOpenTimeout = 60.0;  // an interpreter that imports its libraries beside compilers

/// What a submission says goes on to its author, through text formats: nothing but printable ASCII
/// does.
std::string printable(const char* text) {
  std::string words(text);
  for (char& c : words) c = c >= ' ' && c <= '~' ? c : '?';
  return words;
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
  return runner;
}

ProcessRunner::~ProcessRunner() {
  if (frozen_)
    static_cast<void>(thaw());  // the process is about to be killed; a frozen one would linger
  freezer_.reset();
  if (orders_ != nullptr) munmap(orders_, kOrdersBytes);
  if (answers_ != nullptr) munmap(const_cast<Answers*>(answers_), kAnswersBytes);
}

/// Rationale: a process that ends hangs up first. One that hangs up and goes on has not ended, and is
/// not to be taken for one that somebody else ended.
Round ProcessRunner::hung_up(Ending blame) {
  const double deadline_s = monotonic_s() + kHangUpSeconds;
  while (!ended() && monotonic_s() < deadline_s) {
    pollfd polled{handles_.pidfd.get(), POLLIN, 0};
    static_cast<void>(poll(&polled, 1, 1));
    if (freezer_) freezer_->service();
  }
  if (ended()) return {blame, 0, "the process ended before it had loaded"};
  return {blame == Ending::kFault ? Ending::kFault : Ending::kRefused, 0, kBrokenReport};
}

Round ProcessRunner::receive_report(Report expected, double timeout_s) {
  const Ending blame = expected == Report::kLoaded ? Ending::kDied : Ending::kFault;
  const double deadline_s = monotonic_s() + timeout_s;
  Loaded loaded{};
  for (;;) {
    pollfd polled[2] = {{handles_.socket.get(), POLLIN, 0}, {handles_.pidfd.get(), POLLIN, 0}};
    const double left = deadline_s - monotonic_s();
    if (left <= 0) {
      return {blame == Ending::kFault ? Ending::kFault : Ending::kTimedOut, 0,
              "loading took too long"};
    }
    const int n = poll(polled, 2, freezer_ ? 1 : static_cast<int>(left * 1e3) + 1);
    if (freezer_) freezer_->service();
    if (n < 0 && errno != EINTR) return {Ending::kFault, 0, "poll failed"};
    if (freezer_ && over_memory())
      return {Ending::kOutOfMemory, 0, "more memory than the task grants"};
    if (n <= 0) continue;
    if (polled[0].revents == 0) return {blame, 0, "the process ended before it had loaded"};
    const ssize_t size = recv(handles_.socket.get(), &loaded, sizeof loaded, MSG_DONTWAIT);
    if (size <= 0) return hung_up(blame);
    loaded.message[sizeof loaded.message - 1] = '\0';
    if (size != static_cast<ssize_t>(sizeof loaded) || loaded.version != kChannelVersion ||
        loaded.report != expected) {
      return {blame == Ending::kFault ? Ending::kFault : Ending::kRefused, 0, kBrokenReport};
    }
    if (loaded.code == HONE_OK) return {Ending::kDone, 0, printable(loaded.message)};
    return {blame == Ending::kFault ? Ending::kFault : Ending::kRefused, 0,
            printable(loaded.message)};
  }
}

Status ProcessRunner::send(const Task& task, int artifact) {
  Setup setup = make_setup(task, plans_);
  setup.arena_bytes = arena_->bytes();
  setup.populate = arena_->populated() ? 1 : 0;
  setup.weaken = (options_.defences.holds(Defence::kSeccomp) ? 0u : 1u) |
                 (options_.defences.holds(Defence::kLandlock) ? 0u : 2u);
  // What is trusted has no limit of time, and is waited for.
  if (options_.seconds_max > 0 && !options_.defences.holds(Defence::kStreamWait))
    setup.weaken |= 4u;
  return send_setup(handles_.socket.get(), setup,
                    {orders_fd_.get(), answers_fd_.get(), arena_->fd(), artifact});
}

/// Rationale: a process that runs device code alone seals itself once, before its first artifact.
Round ProcessRunner::send_and_load(const Task& task, int artifact, double timeout_s) {
  if (Status sent = send(task, artifact); !sent) return {Ending::kFault, 0, sent.error().message};
  if (Round sealed = receive_report(Report::kSealed, kSetupTimeout); sealed.ending != Ending::kDone)
    return sealed;
  return receive_report(Report::kLoaded, left_of(timeout_s));
}

Round ProcessRunner::reload(const Task& task, Plans plans, UniqueFd artifact,
                            std::unique_ptr<Arena> arena, RunnerOptions options, double timeout_s) {
  HONE_ASSERT(options_.device_code);
  if (Round ready = plain_round(Order::kReload, 0, kSetupTimeout); ready.ending != Ending::kDone)
    return {Ending::kFault, 0, "the process did not answer: " + ready.message};
  options_ = options;
  spent_s_ = 0;
  put_inputs_ = nullptr;  // of a task that may be gone
  plans_ = std::move(plans);
  if (arena != nullptr) {
    if (witness_ != nullptr) witness_->forget();
    arena_ = std::move(arena);
  }
  return send_and_load(task, artifact.get(), timeout_s);
}

/// Rationale: the process waits for the setup before it opens the device, for contexts are made when
/// nothing is measured. It has sealed itself before that, so until it has loaded nothing foreign runs.
Round ProcessRunner::set_up_module(const Task& task, double timeout_s) {
  if (Status sent = send(task, handles_.artifact.get()); !sent)
    return {Ending::kFault, 0, sent.error().message};
  for (const Report expected : {Report::kOpened, Report::kSealed}) {
    if (Round said = receive_report(expected, kOpenTimeout); said.ending != Ending::kDone)
      return said;
  }
  const double start = monotonic_s();
  Round loaded = receive_report(Report::kLoaded, left_of(timeout_s));
  spent_s_ += monotonic_s() - start;
  return loaded;
}

Round ProcessRunner::set_up(const Task& task, Plans plans, const std::vector<int>& cores,
                            double timeout_s) {
  plans_ = std::move(plans);
  if (options_.module) return set_up_module(task, timeout_s);
  cpu_set_t set;
  CPU_ZERO(&set);
  const std::size_t granted = std::min(cores.size(), static_cast<std::size_t>(task.threads));
  for (std::size_t i = 0; i < granted; ++i) CPU_SET(static_cast<std::size_t>(cores[i]), &set);
  if (sched_setaffinity(handles_.pid, sizeof set, &set) != 0)
    return {Ending::kFault, 0, "sched_setaffinity failed"};
  // Where we may: what is measured goes before all else on its cores. Baseline and submission get
  // the same.
  set_priority(handles_.pid, kMeasurePriority);
  if (Round opened = receive_report(Report::kOpened, kOpenTimeout); opened.ending != Ending::kDone)
    return opened;
  if (options_.device_code) return send_and_load(task, handles_.artifact.get(), timeout_s);
  if (Status sent = send(task, handles_.artifact.get()); !sent)
    return {Ending::kFault, 0, sent.error().message};
  if (Round sealed = receive_report(Report::kSealed, kSetupTimeout); sealed.ending != Ending::kDone)
    return sealed;
  auto freezer = handles_.freeze
                     ? Freezer::with_cgroup(handles_.freeze.get(), handles_.frozen_events.get())
                     : Freezer::with_ptrace(handles_.pid);
  if (!freezer) {
    // A submission may have died in its initialisers between the two reports.
    if (ended()) return {Ending::kDied, 0, "the process ended while it was loading"};
    return {Ending::kFault, 0, freezer.error().message};
  }
  freezer_ = std::move(freezer).value();
  const double start = monotonic_s();
  Round loaded = receive_report(Report::kLoaded, left_of(timeout_s));
  spent_s_ += monotonic_s() - start;
  return loaded;
}

/// Rationale: a submission that is slow in every round, each time within the limit, must run out of
/// its own time before the host runs out of patience with the judge.
double ProcessRunner::left_of(double timeout_s) const {
  if (options_.seconds_max <= 0) return timeout_s;
  return std::min(timeout_s, std::max(options_.seconds_max - spent_s_, 0.0));
}

Status ProcessRunner::freeze() {
  if (frozen_ || options_.device_code) return {};
  if (options_.defences.holds(Defence::kFreeze)) HONE_TRY(freezer_->freeze(kFreezeTimeout));
  frozen_ = true;
  return {};
}

Status ProcessRunner::thaw() {
  if (!frozen_) return {};
  if (options_.defences.holds(Defence::kFreeze)) HONE_TRY(freezer_->thaw());
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

bool ProcessRunner::over_memory() const {
  if (options_.memory_bytes_max <= 0) return false;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/statm", handles_.pid);
  std::FILE* statm = std::fopen(path, "re");
  if (statm == nullptr) return false;
  long total = 0, resident = 0, shared = 0;
  const int read = std::fscanf(statm, "%ld %ld %ld", &total, &resident, &shared);
  std::fclose(statm);
  return read == 3 && (resident - shared) * 4096L > options_.memory_bytes_max;
}

Round ProcessRunner::wait_done(std::uint32_t round, double timeout_s, bool spin) {
  const double start = monotonic_s();
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
          return {Ending::kOutOfMemory, 0, text[0] != '\0' ? printable(text) : "std::bad_alloc"};
        }
        if (answer == Answer::kFault && options_.device_code && !options_.module)
          return {Ending::kFault, 0, printable(text)};
        if (answer == Answer::kException) return {Ending::kException, 0, printable(text)};
        if (answer == Answer::kMismatch) return {Ending::kMismatch, 0, printable(text)};
        return {Ending::kRefused, 0, text[0] != '\0' ? printable(text) : "the launch failed"};
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
      sleep_us(20);  // what takes this long is not measured less well for it
    }
    if (now < next_look) continue;
    next_look = now + 2e-3;
    if (ended()) return {Ending::kDied, 0, {}};
    if (now - start > timeout_s) return {Ending::kTimedOut, 0, {}};
    if (over_memory()) return {Ending::kOutOfMemory, 0, "more memory than the task grants"};
  }
}

/// The device must already belong to the candidate's context when the clock starts: the judge's own
/// kernels, which made the inputs, have left it in the judge's. A module gets its inputs after that, from
/// the judge's context, and pays for the change, as its baseline does.
Round ProcessRunner::device_round(Order order, std::size_t calls, double timeout_s) {
  if (!options_.module) {
    Round here =
        wait_done(give(Order::kNothing, 0, options_.spin), left_of(timeout_s), options_.spin);
    if (here.ending != Ending::kDone) return here;
  }
  const std::int64_t start = monotonic_ns();
  if (put_inputs_ != nullptr) {
    if (Status put = put_inputs_(); !put) return {Ending::kFault, 0, put.error().message};
  }
  Round result = wait_done(give(order, calls, options_.spin), left_of(timeout_s), options_.spin);
  const Status seen = witness_ != nullptr ? witness_->look() : Status();
  const std::int64_t stop = monotonic_ns();
  result.seconds = static_cast<double>(stop - start) * 1e-9;
  if (witness_ != nullptr) witness_->keep();
  result.marked_seconds = order == Order::kMarked ? answers_->marked_seconds : 0;
  spent_s_ += result.seconds;
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

Status ProcessRunner::give_inputs(std::function<Status()> put) {
  if (!options_.module || !options_.defences.holds(Defence::kWithhold)) return put();
  put_inputs_ = std::move(put);
  return {};
}

/// Not where the judge needs the same core.
void ProcessRunner::stay_awake(bool awake) {
  orders_->awake.store(awake && options_.spin ? 1 : 0, std::memory_order_relaxed);
}

Result<bool> ProcessRunner::settled_in(const Arena& arena) {
  return witness_ != nullptr ? witness_->agrees(arena) : true;
}

Result<std::string> ProcessRunner::see(const Layout& layout, std::uint64_t secret) {
  if (witness_ == nullptr) return std::string();
  witness_->aim(*arena_, layout, secret);
  return witness_->see();
}

Round ProcessRunner::timed_round(Order order, std::size_t calls, double timeout_s) {
  if (options_.device_code) return device_round(order, calls, timeout_s);
  HONE_ASSERT(frozen_);
  const std::uint32_t round = give(order, calls, options_.spin);
  const std::int64_t start = monotonic_ns();
  if (Status thawed = thaw(); !thawed) return {Ending::kFault, 0, thawed.error().message};
  futex_wake(orders_->go);
  Round result = wait_done(round, left_of(timeout_s), options_.spin);
  const Status stopped = freeze();
  const std::int64_t stop = monotonic_ns();
  result.seconds = static_cast<double>(stop - start) * 1e-9;
  spent_s_ += result.seconds;
  if (result.ending == Ending::kDone && !stopped) {
    if (ended()) return {Ending::kDied, 0, {}};
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
  Round result = wait_done(round, left_of(timeout_s), spin);
  result.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  spent_s_ += result.seconds;
  return result;
}

void ProcessRunner::set_guards(const std::vector<Guard>& guards) {
  HONE_ASSERT(guards.size() <= kGuardsMax);
  std::copy(guards.begin(), guards.end(), orders_->guards);
  orders_->guard_count = static_cast<std::uint32_t>(guards.size());
}

}  // namespace hone
