// A device's lock and memory, shared by its lanes.
#include <functional>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "evaluate/device.hpp"
#include "evaluate/sources.hpp"

namespace hone {
namespace {

constexpr int kConsecutiveJobsMax =
    8;  // most jobs for which a lane may go ahead of others, or have all memory

}  // namespace

/// Gets the memory and the lock that the job needs.
Status Device::acquire(const DeviceJob& job) {
  const Result<MemoryPlace> place = shared_.memory.place(*job.task);
  if (!place) {
    circumstances_.gave_up = place.error().code == Code::kFailedPrecondition;
    return place.error();
  }
  const bool all =
      *place == MemoryPlace::kExclusive || job.isolation.device == DeviceUse::kAllMemory;
  const bool is_ready = has_ready(slot_key(*job.task, job.mode));
  // Rationale: a large task takes seconds to prepare, and is dropped when the device is shared again.
  if (all && has_all_memory_ && lock_.is_exclusive() && is_ready &&
      consecutive_jobs_ < kConsecutiveJobsMax && !lock_.is_awaited()) {
    ++consecutive_jobs_;
    return {};
  }
  HONE_TRY(claim_memory(job, all));
  if (is_over(job)) return unavailable("cancelled");
  bool has_judge = false;
  {
    MutexLock lock(state_mutex_);
    has_judge = judge_.is_started();
  }
  if (!has_judge) HONE_TRY(start_judge_exclusively());
  // Choosing the fastest baseline needs the device exclusively.
  HONE_TRY(take_lock(
      all || job.isolation.device != DeviceUse::kShared ||
      (chooses_baseline(*job.task, options_) && !has_ready(slot_key(*job.task, job.mode)))));
  if (all) take_all_memory();
  return {};
}

/// This lane runs nothing on the device meanwhile.
Status Device::take_lock(bool exclusive) {
  const double from_s = monotonic_s();
  work_.set_step("wait for the device with");
  if (exclusive || lock_.is_awaited() || lock_.is_exclusive()) {
    leave_lock();
  } else {
    MutexLock lock(state_mutex_);
    pool_.await_ended();
  }
  const Status taken = exclusive ? lock_.lock_exclusive() : lock_.share();
  work_.report_wait(from_s);
  circumstances_.gave_up = !taken;
  return taken;
}

void Device::leave_lock() {
  MutexLock lock(state_mutex_);
  if (std::exchange(has_all_memory_, false)) slots_.drop_all();
  pool_.await_ended();
  pool_.wait_until_open();
  lock_.leave();
}

void Device::rest() {
  leave_lock();
  shared_.ledger.rest(lane_, held_bytes());
}

/// Rationale: an exclusive lane leaves the device only after its last process has ended, because that end
/// would disturb the next measurement.
void Device::make_ready() {
  work_.begin("");
  work_.set_step("make processes ready");
  if (lock_.is_unlocked())
    return rest();  // the job did not get the lock, and other lanes may take this lane's memory
  // Contexts would use memory of a task that needs all of it.
  if (lock_.is_shared() && !has_all_memory_) pool_.open_ahead();
  pool_.await_ended();
  if (has_all_memory_) return;
  shared_.ledger.settle(lane_, held_bytes());  // the submission's memory is free now
  if (const Status shares = lock_.share(); !shares)
    return log_warning("evaluate", shares.error().message);
  pool_.start_missing(true);
  pool_.open_ahead();
}

/// Rationale: a process that reads counters takes long to start, and measurements wait until it has opened the device. So it
/// starts while no job waits. If a profile finds none, Device::judge() starts one.
void Device::use_idle_time() {
  if (!keeps_player_ || closed_ || has_all_memory_ || lock_.is_unlocked() || !judge_.is_started())
    return;
  work_.set_step("start a process that reads counters");
  if (const Status shares = lock_.share(); !shares)
    return log_warning("evaluate", shares.error().message);
  pool_.make_player_ready(false);
}

/// Waits for other lanes during a job's work.
Status Device::wait_for_lanes(const std::function<Status()>& wait) {
  const double from_s = monotonic_s();
  const Status waited = wait();
  work_.note_wait(from_s);
  circumstances_.gave_up = !waited;
  return waited;
}

JudgeCallbacks Device::judge_callbacks() {
  JudgeCallbacks callbacks;
  callbacks.ends_s = [this] { return work_.ends_s(); };
  callbacks.work = [this] { return work_.text(); };
  callbacks.end = [this] { return running_.end(ProcessPool::kGoneSeconds); };
  // The judge wants to measure.
  callbacks.quiet = [this]() -> Result<bool> {
    HONE_TRY(wait_for_lanes([this] {
      pool_.wait_until_open();
      return lock_.lock_for_timing();
    }));
    return lock_.has_neighbours();
  };
  callbacks.share = [this] {
    const Status shares = wait_for_lanes([this] { return lock_.share(); });
    // Prepares processes for the next jobs while the judge checks the timed outputs. An exclusive lane
    // continues to measure without another such call.
    if (shares && !lock_.is_exclusive()) pool_.open_ahead();
    return shares;
  };
  callbacks.yield = [this]() -> Status {
    if (!lock_.blocks_timing()) return {};
    return wait_for_lanes([this] {
      // Making or ending a context disturbs a measurement.
      pool_.await_ended();
      pool_.wait_until_open();
      return lock_.yield();
    });
  };
  return callbacks;
}

std::uint64_t Device::held_bytes() const {
  MutexLock lock(state_mutex_);
  return slots_.held_bytes();
}

/// Reserves memory for a job. If it is not free, the lane leaves the device and waits.
Status Device::claim_memory(const DeviceJob& job, bool all) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  drops_others_ = false;
  HONE_ASSIGN(const SlotRequest request, slot_of(job));
  std::uint64_t with_others = 0;
  {
    MutexLock lock(state_mutex_);
    with_others = slots_.held_bytes_with(request);
  }
  const std::uint64_t most = all ? kAll : with_others;
  const std::uint64_t least = all ? kAll : request.need.expected();
  // Rationale: installing a task takes longer than judging one submission of it, so a lane first judges a task that it has ready.
  const bool again = has_ready(request.key) && consecutive_jobs_ < kConsecutiveJobsMax;
  const bool wanted_by_others = shared_.ledger.is_awaited();
  for (const std::uint64_t bytes : {most, least}) {
    reserved_bytes_ = bytes;
    if (shared_.ledger.try_claim(lane_, bytes, again)) {
      consecutive_jobs_ = wanted_by_others ? consecutive_jobs_ + 1 : 0;
      return {};
    }
    drops_others_ = true;
  }
  consecutive_jobs_ = 0;
  rest();
  work_.set_step("wait for memory for");
  const double from_s = monotonic_s();
  const auto taken = shared_.ledger.claim(lane_, least, [&] { return is_over(job); });
  const Status dropped = taken ? take_back_from(*taken) : Status(taken.error());
  work_.report_wait(from_s);
  circumstances_.gave_up = !dropped && dropped.error().code == Code::kDeadlineExceeded;
  return dropped;
}

/// Drops the tasks that idle lanes keep ready. Rationale: ending processes and freeing memory disturb a
/// measurement. So this lane shares the lock meanwhile, and no lane measures.
Status Device::take_back_from(const std::vector<std::size_t>& lanes) {
  if (lanes.empty()) return {};
  const Status shares = lock_.share();
  if (shares) {
    for (const std::size_t lane : lanes) pool_.take_over_ended(shared_.lanes[lane]->yield_tasks());
    pool_.await_ended();
  }
  shared_.ledger.free_again(lanes);
  return shares;
}

/// For an exclusive lane: takes all memory from the other lanes, and from its own standby processes.
void Device::take_all_memory() {
  has_all_memory_ = true;
  consecutive_jobs_ = 0;
  for (Device* other : shared_.lanes) {
    if (other != this) pool_.take_over_ended(other->yield_memory());
  }
  pool_.end_standby();
  kept_.forget_all();
  judge_.trim();
  pool_.await_ended();
}

/// Gives up the tasks that this lane keeps ready. The other lane that needs their memory waits for the
/// returned processes to end.
std::vector<std::unique_ptr<Process>> Device::yield_tasks() {
  MutexLock lock(state_mutex_);
  slots_.drop_all();
  return pool_.hand_over_ended();
}

/// Gives up all memory of this lane except its judge's. The other lane waits for the returned processes to
/// end.
std::vector<std::unique_ptr<Process>> Device::yield_memory() {
  MutexLock lock(state_mutex_);
  slots_.drop_all();
  pool_.end(kept_.release());
  pool_.end_standby();
  judge_.trim();
  return pool_.hand_over_ended();
}

}  // namespace hone
