// Loading: the reports of a process until its artifact is loaded, or replaced by another.
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/priority.hpp"
#include "base/utf8.hpp"
#include "judge/process_runner.hpp"
#include "judge/send_setup.hpp"

namespace hone {
namespace {

constexpr double kSetupTimeout = 10.0;
constexpr double kHangUpSeconds = 1.0;
constexpr int kLookMs = 10;
// Limit of opening the device (seconds): an interpreter imports its libraries while compilers use the cores.
constexpr double kOpenTimeout = 60.0;

Round broken_report(Ending blame) {
  return {blame == Ending::kFault ? Ending::kFault : Ending::kBrokenReport, 0,
          "a report that is none"};
}

}  // namespace

/// Rationale: a process that ends closes its socket first. A process that closes its socket and runs on has not ended, and must
/// not be taken for one that was killed.
Round ProcessRunner::hung_up(Ending blame) {
  const double deadline_s = monotonic_s() + kHangUpSeconds;
  while (!ended() && monotonic_s() < deadline_s) {
    pollfd polled{handles_.pidfd.get(), POLLIN, 0};
    static_cast<void>(poll(&polled, 1, 1));
    if (freezer_) freezer_->service();
  }
  if (ended()) return {blame, 0, "the process ended before it had loaded"};
  return broken_report(blame);
}

Round ProcessRunner::receive_report(Report expected, double timeout_s) {
  const Ending blame = expected == Report::kLoaded ? Ending::kDied : Ending::kFault;
  const double start_s = monotonic_s(), limit_s = left_of(timeout_s);
  starved_.begin();
  Loaded loaded{};
  for (;;) {
    pollfd polled[2] = {{handles_.socket.get(), POLLIN, 0}, {handles_.pidfd.get(), POLLIN, 0}};
    const int n = poll(polled, 2, freezer_ ? 1 : kLookMs);
    if (freezer_) freezer_->service();
    if (n < 0 && errno != EINTR) return {Ending::kFault, 0, "poll failed"};
    if (freezer_ && over_memory()) return {Ending::kOutOfMemory, 0, over_memory_text()};
    if (n <= 0) {
      const auto over = over_time(monotonic_s() - start_s, limit_s, timeout_s);
      if (over && over->ending == Ending::kTimedOut && blame == Ending::kFault)
        return {Ending::kFault, 0, "loading took too long"};
      if (over) return *over;
      continue;
    }
    if (polled[0].revents == 0) return {blame, 0, "the process ended before it had loaded"};
    const ssize_t size = recv(handles_.socket.get(), &loaded, sizeof loaded, MSG_DONTWAIT);
    if (size <= 0) return hung_up(blame);
    loaded.message[sizeof loaded.message - 1] = '\0';
    if (size != static_cast<ssize_t>(sizeof loaded) || loaded.version != kChannelVersion ||
        loaded.report != expected)
      return broken_report(blame);
    Round said{Ending::kDone, 0, printable_ascii(loaded.message)};
    said.flags = loaded.flags;
    if (loaded.code == HONE_OK) return said;
    // Rationale: other processes may hold the device's memory; the host decides.
    if (loaded.code == HONE_RESOURCE_EXHAUSTED && blame != Ending::kFault && options_.module)
      return {Ending::kOutOfMemory, 0, said.message};
    said.ending = blame == Ending::kFault ? Ending::kFault : Ending::kRefused;
    return said;
  }
}

/// Waits for the submission to load. From here on the time counts towards the candidate's limit.
Round ProcessRunner::await_loaded(double timeout_s) {
  const double start_s = monotonic_s();
  Round loaded = receive_report(Report::kLoaded, timeout_s);
  loaded.seconds = monotonic_s() - start_s;
  spend(loaded);
  return loaded;
}

Status ProcessRunner::send(const Task& task, int artifact) {
  Setup setup = make_setup(task, plans_);
  setup.arena_bytes = arena_->bytes();
  setup.populate = arena_->populated() ? 1 : 0;
  setup.weaken = (options_.defences.holds(Defence::kSeccomp) ? 0u : 1u) |
                 (options_.defences.holds(Defence::kLandlock) ? 0u : 2u);
  // Code of the dataset has no time limit.
  if (options_.seconds_max > 0 && !options_.defences.holds(Defence::kStreamWait))
    setup.weaken |= 4u;
  return send_setup(handles_.socket.get(), setup,
                    {orders_fd_.get(), answers_fd_.get(), arena_->fd(), artifact});
}

/// Rationale: a process of native device code seals itself once, before its first artifact.
Round ProcessRunner::send_and_load(const Task& task, int artifact, double timeout_s) {
  if (Status sent = send(task, artifact); !sent) return {Ending::kFault, 0, sent.error().message};
  if (Round sealed = receive_report(Report::kSealed, kSetupTimeout); sealed.ending != Ending::kDone)
    return sealed;
  return await_loaded(timeout_s);
}

Round ProcessRunner::reload(const Task& task, Plans plans, UniqueFd artifact,
                            std::unique_ptr<Arena> arena, RunnerOptions options, double timeout_s) {
  HONE_ASSERT(options_.device_code);
  if (Round ready = plain_round(Order::kReload, 0, kSetupTimeout); ready.ending != Ending::kDone)
    return {Ending::kFault, 0, "the process did not answer: " + ready.message};
  options_ = options;
  spent_s_ = 0;
  put_inputs_ = nullptr;  // refers to a task that may not exist any more
  plans_ = std::move(plans);
  if (arena != nullptr) {
    if (witness_ != nullptr) witness_->forget();
    arena_ = std::move(arena);
  }
  return send_and_load(task, artifact.get(), timeout_s);
}

/// Rationale: the process waits for the setup before it opens the device, because contexts are created while nothing is
/// measured. It has sealed itself before that, and runs no untrusted code until it loads the artifact.
Round ProcessRunner::set_up_module(const Task& task, double timeout_s) {
  if (Status sent = send(task, handles_.artifact.get()); !sent)
    return {Ending::kFault, 0, sent.error().message};
  for (const Report expected : {Report::kOpened, Report::kSealed}) {
    if (Round said = receive_report(expected, kOpenTimeout); said.ending != Ending::kDone)
      return said;
  }
  return await_loaded(timeout_s);
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
  // If permitted: measured processes have priority on their cores, baseline and submission alike.
  set_priority(handles_.pid, kMeasurePriority);
  set_urgent(false);
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
  return await_loaded(timeout_s);
}

}  // namespace hone
