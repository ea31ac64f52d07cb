// The judge's calls to the host while it judges: exclusive use of the device, and the end of the submission.
#include "judge/judge.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kMemoryShare =
    32;  // share of the device's memory that must be free during a measurement

/// Rationale: a library that lacks memory for its work area uses a slower algorithm without an error.
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
  host.is_device_still = [this] { return !others_present_ || workbench_->is_still(); };
  host.end = [this] { host_.end(); };
  host.ended = [this] { return host_.await_end(); };
  return host;
}

/// Waits for the device exclusively.
Status Judge::await_quiet() {
  HONE_ASSIGN(others_present_, host_.quiet());
  return others_present_ ? expect_memory(*workbench_) : Status();
}

/// Work of other processes must not be part of the baseline's time.
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
