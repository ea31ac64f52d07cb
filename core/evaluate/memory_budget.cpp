// Arithmetic of device memory.
#include "evaluate/memory_budget.hpp"

#include <algorithm>
#include <cstdio>

#include "judge/layout.hpp"
#include "judge/plans.hpp"
#include "judge/timing/processes/kept_rounds.hpp"
#include "judge/timing/round_size.hpp"

namespace hone {
namespace {

/// Memory to make the inputs of several calls together: four times TOGETHER_BYTES of module_reference.py, because values, factors
/// and copies exist at the same time.
constexpr std::uint64_t kInputsTogether = 256u << 20;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
constexpr std::uint64_t kReserveShare =
    64;  // of the device's memory, for the driver and for fragmentation
// The judge's kept copies: at most 512 MiB (spare_arenas.hpp), and so much of the device's memory.
constexpr std::uint64_t kSparesMax = kGib / 2, kSparesShare = 64;
// Outputs that wait to be checked (stored_rounds.cpp).
constexpr std::uint64_t kLaterMax = 2 * kGib, kLaterShare = 64, kLaterRounds = 16;
// That torch keeps of what the reference freed (module_place.py).
constexpr std::uint64_t kKeptByReference = kGib;

/// Bytes of all tensors that one call reads, or that it writes.
Result<std::uint64_t> tensor_bytes(const Task& task, const Dims& dims, bool written, bool exact) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : task.tensors) {
    if ((tensor.role != Role::kIn) != written) continue;
    HONE_ASSIGN(const std::int64_t elements, element_count(tensor, dims));
    const bool wide = exact && dtype_is_float(tensor.dtype);
    bytes += static_cast<std::uint64_t>(elements) * (wide ? 8 : dtype_size(tensor.dtype));
  }
  return bytes;
}

std::uint64_t less(std::uint64_t from, std::uint64_t what) { return from - std::min(from, what); }

}  // namespace

std::uint64_t MemoryNeed::installed() const {
  const std::uint64_t both = contexts / 3 * (baseline_arena > 0 ? 2 : 1);
  return reference_arena + baseline_arena + std::min(reference_work, kKeptByReference) +
         baseline_work + both;
}

/// Rationale: for a large task (`in_turn`), the reference runs only while the judge has no copy of outputs and the baseline
/// has freed its memory (stored_rounds.cpp). So only the larger of both needs counts. The submission keeps its memory.
std::uint64_t MemoryNeed::expected() const {
  const std::uint64_t timed = snapshots + baseline_work;
  return reference_arena + baseline_arena + submission_arena + submission_work + contexts +
         (in_turn ? std::max(timed, reference_work) : timed + reference_work);
}

std::uint64_t MemoryNeed::least() const {
  return reference_arena + baseline_arena + submission_arena + snapshots + baseline_work +
         submission_work + contexts;
}

Result<MemoryNeed> memory_need(const Task& given, const MeasureSettings& settings,
                               std::uint64_t device_bytes, std::uint64_t context_bytes, bool timed,
                               bool module) {
  Task task = given;
  task.narrow_answers = module && answers_are_narrow(given, device_bytes);
  MemoryNeed need;
  const Plans no_plans;
  HONE_ASSIGN(const std::uint64_t exact, arena_bytes(task, settings, true, 0, no_plans));
  HONE_ASSIGN(const std::uint64_t plain, arena_bytes(task, settings, false, 0, no_plans));
  need.reference_arena = module ? with_kept_rounds(exact, device_bytes) : exact;
  need.baseline_arena = timed ? plain : 0;
  need.submission_arena = plain;
  need.in_turn = has_one_copy(plain, device_bytes);
  need.contexts = 3 * context_bytes;
  if (!module) return need;
  HONE_ASSIGN(const Layout one, lay_out(task, task.timed, 1, Placement::kDevice, false));
  if (timed) {
    // Of a task whose answers cannot wait to be checked, what its calls write; else all of it (stored_rounds.cpp).
    const std::uint64_t most = std::min(kLaterMax, device_bytes / kLaterShare);
    const bool waits = one.total <= most;
    const std::uint64_t copy = waits ? one.total : one.total - one.outputs_begin;
    need.snapshots = copy * (has_one_copy(one.total, device_bytes) ? 1 : 2);
    if (waits) need.snapshots += std::min(kLaterRounds * one.total, most);
  }
  for (const Dims* dims : {&task.timed, task.shown.empty() ? &task.timed : &task.shown.front()}) {
    HONE_ASSIGN(const std::uint64_t inputs, tensor_bytes(task, *dims, false, true));
    HONE_ASSIGN(const std::uint64_t outputs, tensor_bytes(task, *dims, true, true));
    HONE_ASSIGN(const std::uint64_t own, tensor_bytes(task, *dims, true, false));
    need.reference_work =
        std::max(need.reference_work, task.narrow_answers ? 2 * own : inputs + outputs + own);
    need.submission_work = std::max(need.submission_work, own);
  }
  // The reference may make the inputs of several calls together.
  need.reference_work = std::max(need.reference_work, kInputsTogether);
  need.baseline_work = timed ? need.submission_work : 0;
  return need;
}

std::uint64_t DeviceMemory::exclusive_bytes() const {
  return less(bytes, bytes / kReserveShare + static_cast<std::uint64_t>(lanes) * context_bytes);
}

std::uint64_t DeviceMemory::shared_bytes() const {
  const std::uint64_t spares = std::min(kSparesMax, bytes / kSparesShare);
  const std::uint64_t of_lane = spares + static_cast<std::uint64_t>(1 + standby) * context_bytes;
  return less(bytes, bytes / kReserveShare + static_cast<std::uint64_t>(lanes) * of_lane +
                         static_cast<std::uint64_t>(players) * context_bytes);
}

std::uint64_t DeviceMemory::lane_bytes() const {
  return shared_bytes() / static_cast<std::uint64_t>(std::max(lanes, 1));
}

MemoryPlace place_for(const MemoryNeed& need, const DeviceMemory& device, bool ran_short) {
  if (device.bytes == 0) return MemoryPlace::kShared;
  if (need.least() > device.exclusive_bytes()) return MemoryPlace::kRefused;
  return ran_short || need.expected() > device.shared_bytes() ? MemoryPlace::kExclusive
                                                              : MemoryPlace::kShared;
}

std::size_t count_to_evict(const std::vector<std::uint64_t>& installed, std::uint64_t needed,
                           std::uint64_t room) {
  std::uint64_t held = 0;
  for (std::size_t kept = 0; kept < installed.size(); ++kept) {
    held += installed[kept];
    if (held + needed > room) return installed.size() - kept;
  }
  return 0;
}

std::string gib_text(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB",
                static_cast<double>(bytes) / static_cast<double>(kGib));
  return text;
}

std::string refusal_text(const std::string& task_id, std::uint64_t needed,
                         std::uint64_t device_bytes) {
  return task_id + " needs " + gib_text(needed) + " of device memory, the device has " +
         gib_text(device_bytes);
}

}  // namespace hone
