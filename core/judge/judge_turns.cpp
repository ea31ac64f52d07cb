// What a judge asks of the host while it judges: the device alone, and the submission's end.
#include <algorithm>

#include "judge/judge.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kMemoryShare = 32;  // that is to be free where something is timed

/// Rationale: a library that finds no memory to work in takes a slower way, and says nothing.
Status expect_memory(Workbench& workbench) {
  const std::uint64_t bytes = workbench.memory_bytes() / kMemoryShare;
  if (workbench.has_free(bytes)) return {};
  return resource_exhausted("other processes leave less than " + std::to_string(bytes) +
                            " bytes of device memory free");
}

}  // namespace

SessionHost Judge::session_host() {
  SessionHost host;
  host.progress = [this](JudgeStage stage) { host_.begin(stage); };
  host.quiet = [this] { return await_quiet(); };
  host.share = [this] { return host_.share(); };
  host.give_way = [this](const std::function<Status()>& stand_still) {
    return give_way(stand_still);
  };
  host.others_present = [this] { return others_present_; };
  host.is_device_still = [this] {
    const bool any = others_present_ ||
                     std::any_of(kept_.begin(), kept_.end(),
                                 [](const auto& kept) { return kept.second->withholds_inputs(); });
    return !any || workbench_->is_still();
  };
  host.end = [this] { host_.end(); };
  host.ended = [this] { return host_.await_end(); };
  return host;
}

/// The device is this judge's alone then.
Status Judge::await_quiet() {
  HONE_ASSIGN(others_present_, host_.quiet());
  return others_present_ ? expect_memory(*workbench_) : Status();
}

/// What others have on the device is not to be part of what a baseline takes.
Judgement Judge::expect_still() {
  if (!others_present_ || workbench_->is_still()) return correct_so_far();
  return busy_device();
}

/// Yields the device to a judge that waits to measure. With `stand_still` the host is asked twice: whether a judge waits, and
/// then, with the submission frozen, to let it measure.
Status Judge::give_way(const std::function<Status()>& stand_still) {
  HONE_ASSIGN(const bool wanted, host_.yield(stand_still == nullptr));
  if (!wanted) return {};
  HONE_TRY(stand_still());
  const auto yielded = host_.yield(true);
  return yielded ? Status() : Status(yielded.error());
}

}  // namespace hone
