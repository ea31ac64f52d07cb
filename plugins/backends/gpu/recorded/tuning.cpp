// Times calls with events, on copies of the task's tensors.
#include "recorded/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "errors.hpp"
#include "recorded/issue.hpp"
#include "recorded/layout.hpp"
#include "recorded/memory_pool.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::Failure;
using hone::recorded::MemoryKind;

/// Number of passes over all configurations. The fastest call of a configuration counts, because other processes may
/// use the device meanwhile. Each pass times all configurations that remain, so brief contention does not affect only
/// one of them.
constexpr int kPasses = 5;
constexpr double kLongSeconds = 0.02;    ///< a longer first call of a configuration counts
constexpr double kHopeless = 2;          ///< a slower one (multiple of the fastest) is left out
constexpr std::uint64_t kFreePart = 16;  ///< 1/16 of the memory stays free for other processes
constexpr std::uint64_t kCopyAlign = 512;
constexpr double kNever = std::numeric_limits<double>::infinity();

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls of a plan with copies of the task's tensors. Owns the copies and two events.
class TimedCalls {
 public:
  TimedCalls(LoadedPlan& loaded, const std::vector<std::uint64_t>& addresses)
      : loaded_(loaded), gpu_(loaded.device.gpu), originals_(addresses), copies_(addresses) {
    const auto cache = static_cast<std::uint64_t>(loaded.device.facts.at("cache_bytes").as_int());
    std::uint64_t bytes = 0;
    for_task_memory([&](std::size_t, std::uint64_t size) { bytes += round_up(size, kCopyAlign); });
    swept_bytes_ = 2 * cache;
    leave_memory(bytes + swept_bytes_);
    try {
      memory_ = pool_of(loaded.device).take(bytes + swept_bytes_);
      swept_ = memory_ + bytes;
      std::uint64_t at = memory_;
      for_task_memory([&](std::size_t i, std::uint64_t size) {
        copies_[i] = at;
        at += round_up(size, kCopyAlign);
      });
      copy();
      binding_ = bind(loaded, copies_);
      for (gpuEvent& event : events_) check(gpu_, gpu_.gpuEventCreate(&event, 0), "make an event");
    } catch (...) {
      release();
      throw;
    }
  }
  ~TimedCalls() { release(); }
  TimedCalls(const TimedCalls&) = delete;
  TimedCalls& operator=(const TimedCalls&) = delete;

  /// Seconds of a call with the chosen configurations; infinite if the device refuses it.
  double seconds() {
    try {
      return call();
    } catch (const Failure&) {
      return kNever;
    }
  }

 private:
  template <typename Fn>
  void for_task_memory(Fn&& use) const {
    for (std::size_t i = 0; i < loaded_.plan.memories.size(); ++i) {
      const hone::recorded::Memory& memory = loaded_.plan.memories[i];
      if (memory.kind == MemoryKind::kTask && memory.bytes > 0) use(i, memory.bytes);
    }
  }

  /// Throws a Failure if the device would have too little memory for other processes.
  void leave_memory(std::uint64_t bytes) const {
    std::size_t free_bytes = 0, total = 0;
    check(gpu_, gpu_.gpuMemGetInfo(&free_bytes, &total), "ask for free memory");
    if (free_bytes < total / kFreePart || bytes > free_bytes - total / kFreePart)
      hone::plugin::fail(HONE_RESOURCE_EXHAUSTED, "too little memory to time configurations");
  }

  void copy() {
    for_task_memory([&](std::size_t i, std::uint64_t bytes) {
      check(gpu_,
            gpu_.gpuMemcpyDtoDAsync(to_address(copies_[i]), to_address(originals_[i]), bytes,
                                    loaded_.device.stream),
            "copy of a tensor");
    });
  }

  double call() {
    const gpuStream stream = loaded_.device.stream;
    copy();
    if (swept_bytes_ > 0)
      check(gpu_, gpu_.gpuMemsetD8Async(to_address(swept_), 0, swept_bytes_, stream),
            "overwrite the cache");
    check(gpu_, gpu_.gpuEventRecord(events_[0], stream), "start of a call");
    issue_run(loaded_, binding_);
    check(gpu_, gpu_.gpuEventRecord(events_[1], stream), "end of a call");
    check(gpu_, gpu_.gpuStreamSynchronize(stream), "call", true);
    float milliseconds = 0;
    check(gpu_, gpu_.gpuEventElapsedTime(&milliseconds, events_[0], events_[1]), "time of a call");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  void release() {
    for (const gpuEvent event : events_) {
      if (event != nullptr) gpu_.gpuEventDestroy(event);
    }
    unbind(loaded_, binding_);
    if (memory_ != 0) pool_of(loaded_.device).give_back(memory_);
  }

  LoadedPlan& loaded_;
  const Driver& gpu_;
  const std::vector<std::uint64_t>& originals_;
  std::vector<std::uint64_t> copies_;
  std::uint64_t memory_ = 0, swept_ = 0, swept_bytes_ = 0;
  Binding binding_;
  gpuEvent events_[2] = {};
};

/// Deadlines of the trials for one kernel: except the first call, no call of the first pass begins after `first_s`, and
/// none of a further pass after `more_s`.
struct Ends {
  double first_s, more_s;
};

/// The fastest configuration of one autotuned kernel; 0 if the device accepts none. The first call of a configuration
/// counts only if it is long, or if there was no time for another.
std::uint32_t fastest_configuration(TimedCalls& calls, std::uint32_t count, std::uint32_t& chosen,
                                    const Ends& ends) {
  std::vector<double> least_s(count, kNever), first_call_s(count, kNever);
  std::vector<std::uint32_t> accepted;
  double fastest_s = kNever;
  const auto keep = [&](std::uint32_t configuration, double seconds) {
    least_s[configuration] = std::min(least_s[configuration], seconds);
    fastest_s = std::min(fastest_s, seconds);
  };
  // The first call of a configuration loads code, so its time is kept at once only if it is long.
  for (chosen = 0; chosen < count && (chosen == 0 || now_s() < ends.first_s); ++chosen) {
    first_call_s[chosen] = calls.seconds();
    if (first_call_s[chosen] < kNever) accepted.push_back(chosen);
    if (first_call_s[chosen] > kLongSeconds) keep(chosen, first_call_s[chosen]);
  }
  if (accepted.size() < 2) return accepted.empty() ? 0 : accepted.front();
  // The ones that seem fast come first, in case the time does not suffice for all.
  std::stable_sort(accepted.begin(), accepted.end(), [&](std::uint32_t one, std::uint32_t other) {
    return first_call_s[one] < first_call_s[other];
  });
  for (int pass = 0; pass < kPasses && accepted.size() > 1; ++pass) {
    for (const std::uint32_t each : accepted) {
      if (now_s() >= (pass == 0 ? ends.first_s : ends.more_s)) {
        if (least_s[each] == kNever) least_s[each] = first_call_s[each];  // it gets no further call
        continue;
      }
      chosen = each;
      keep(each, calls.seconds());
    }
    std::erase_if(accepted,
                  [&](std::uint32_t each) { return least_s[each] > kHopeless * fastest_s; });
  }
  const auto fastest = std::min_element(least_s.begin(), least_s.end());
  return *fastest < kNever ? static_cast<std::uint32_t>(fastest - least_s.begin())
                           : accepted.front();
}

}  // namespace

void choose_configurations(LoadedPlan& loaded, const std::vector<std::uint64_t>& addresses) {
  const double begin_s = now_s();
  try {
    TimedCalls calls(loaded, addresses);
    const std::size_t count = loaded.chosen.size();
    for (std::size_t i = 0; i < count; ++i) {
      const double now = now_s();
      const auto end_s = [&](double limit_s) {
        return now + std::max(begin_s + limit_s - now, 0.0) / static_cast<double>(count - i);
      };
      loaded.chosen[i] = fastest_configuration(
          calls, static_cast<std::uint32_t>(loaded.plan.tuned[i].configurations.size()),
          loaded.chosen[i], {end_s(kFirstTuningSeconds), end_s(kTuningSeconds)});
    }
  } catch (const Failure&) {  // there is too little memory
  }
}

}  // namespace hone_gpu
