// Times calls with events, on copies of the task's tensors.
#include "recorded/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "errors.hpp"
#include "recorded/issue.hpp"
#include "recorded/memory_pool.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::Failure;
using hone::recorded::MemoryKind;

/// The fastest of these calls counts, because other processes may use the device meanwhile. Long calls are timed less often.
constexpr int kTimedCalls = 5, kTimedCallsLeast = 3;
constexpr double kTimedSeconds = 0.1, kLongSeconds = 0.02;
constexpr double kHopeless = 2;  ///< times the fastest time: not timed again
constexpr std::uint64_t kCopyAlign = 512;
constexpr double kNever = std::numeric_limits<double>::infinity();

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kCopyAlign - 1) / kCopyAlign * kCopyAlign;
}

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
    for_task_memory([&](std::size_t, std::uint64_t size) { bytes += aligned(size); });
    try {
      swept_bytes_ = 2 * cache;
      memory_ = pool_of(loaded.device).take(bytes + swept_bytes_);
      swept_ = memory_ + bytes;
      std::uint64_t at = memory_;
      for_task_memory([&](std::size_t i, std::uint64_t size) {
        copies_[i] = at;
        at += aligned(size);
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
  double seconds(double fastest_s) {
    double seconds = kNever;
    try {
      call();  // the driver loads code at its first use
      double spent_s = 0;
      for (int i = 1; i <= kTimedCalls && spent_s < kTimedSeconds; ++i) {
        const double call_s = call();
        spent_s += call_s;
        seconds = std::min(seconds, call_s);
        const bool is_sure = i >= kTimedCallsLeast || spent_s > kLongSeconds;
        if (is_sure && seconds > kHopeless * fastest_s) break;
      }
    } catch (const Failure&) {
      return kNever;
    }
    return seconds;
  }

 private:
  template <typename Fn>
  void for_task_memory(Fn&& use) const {
    for (std::size_t i = 0; i < loaded_.plan.memories.size(); ++i) {
      const hone::recorded::Memory& memory = loaded_.plan.memories[i];
      if (memory.kind == MemoryKind::kTask && memory.bytes > 0) use(i, memory.bytes);
    }
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
    check(gpu_, gpu_.gpuEventRecord(events_[0], stream), "begin of a call");
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

}  // namespace

void choose_configurations(LoadedPlan& loaded, const std::vector<std::uint64_t>& addresses) {
  const double end_s = now_s() + kTuningSeconds;
  try {
    TimedCalls calls(loaded, addresses);
    for (std::size_t kernel = 0; kernel < loaded.chosen.size(); ++kernel) {
      std::uint32_t fastest = 0;
      double fastest_s = kNever;
      for (std::uint32_t i = 0; i < loaded.plan.tuned[kernel] && now_s() < end_s; ++i) {
        loaded.chosen[kernel] = i;
        const double seconds = calls.seconds(fastest_s);
        if (seconds >= fastest_s) continue;
        fastest = i;
        fastest_s = seconds;
      }
      loaded.chosen[kernel] = fastest;
    }
  } catch (const Failure&) {  // there is too little memory
  }
}

}  // namespace hone_gpu
