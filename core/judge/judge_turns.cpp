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
  host.give_way = [this] { return give_way(); };
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

/// Lets other judges measure, if any of them waits. Nothing of this judge runs on the device meanwhile.
Status Judge::give_way() { return device_code_ ? host_.yield() : Status(); }

}  // namespace hone
