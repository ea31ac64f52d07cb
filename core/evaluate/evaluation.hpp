// Evaluation: one run of a submission on a device: how it was isolated, and what the judge found.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "judge_protocol/judgement.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Process of the submission. Later values isolate more.
enum class ProcessUse {
  kKept,   ///< one that earlier submissions of its owner have used, if there is one
  kFresh,  ///< a new one
  kOnly,   ///< a new one, once no process of an earlier submission is left
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

/// The judge's judgement, and the end of the submission's process if it ended by itself.
struct DeviceResult {
  Judgement judgement;
  std::optional<ProcessExit> exit;
};

/// The state of the device during an evaluation.
struct Circumstances {
  DeviceUse device = DeviceUse::kShared;  ///< at least the use that was asked for
  bool has_begun = false;                 ///< the judge got the submission's process
  bool kept_process = false;              ///< that process had run earlier submissions
  bool gave_up = false;             ///< the task does not fit, or the device was not free in time
  bool met_others = false;          ///< other lanes had something on the device meanwhile
  bool keeps_others = false;        ///< the device still keeps processes of earlier submissions
  bool memory_is_budgeted = false;  ///< the device has memory that lanes divide
};

struct Evaluation {
  Result<DeviceResult> result;  ///< an Error is a fault: the judge could not be asked, say
  Circumstances circumstances;
};

}  // namespace hone
