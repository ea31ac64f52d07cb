// Evaluation: one run of a submission on a device, with its isolation and the judge's findings.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "judge_protocol/judgement.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// The process of the submission. Later values isolate more.
enum class ProcessUse {
  kKept,   ///< a process that earlier submissions of its owner have used, if there is one
  kFresh,  ///< a new process
  kOnly,   ///< a new process, after all processes of earlier submissions have ended
};

/// Use of the device. Later values isolate more.
enum class DeviceUse {
  kShared,     ///< other lanes use it too
  kExclusive,  ///< no other lane has anything running on it
  kAllMemory,  ///< exclusive, and no other lane keeps memory of it
};

struct Isolation {
  ProcessUse process = ProcessUse::kKept;
  DeviceUse device = DeviceUse::kShared;

  bool operator==(const Isolation&) const = default;
};

/// The judge's judgement, and how the submission's process ended if it ended by itself.
struct DeviceResult {
  Judgement judgement;
  std::optional<ProcessExit> exit;
};

/// The state of the device during an evaluation.
struct Circumstances {
  DeviceUse device = DeviceUse::kShared;  ///< at least the requested use
  bool has_begun = false;                 ///< the judge received the submission's process
  bool kept_process = false;              ///< the process had run earlier submissions
  bool gave_up = false;     ///< the task does not fit, or the device was not free in time
  bool met_others = false;  ///< other lanes had something on the device during the evaluation
  /// During the check, other lanes used the device for over kSlowCallSeconds / 4.
  bool shared_check = false;
  bool keeps_others = false;        ///< processes of earlier submissions are still on the device
  bool memory_is_budgeted = false;  ///< the device has memory that lanes divide
};

struct Evaluation {
  Result<DeviceResult> result;  ///< an Error is a fault, such as a judge that does not answer
  Circumstances circumstances;
};

}  // namespace hone
