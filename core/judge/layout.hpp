// Layout: where a task's tensors lie in an arena, for one shape and a number of calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "channel/control.hpp"
#include "model/task.hpp"

namespace hone {

enum class Placement {
  kCanaries,  ///< payloads 64-byte aligned, canary bytes on both sides
  kDevice,    ///< as kCanaries, but 256-byte aligned, and what calls write lies together
  kGuards,    ///< payloads end at an inaccessible page (to the alignment the task grants), canary
              ///< bytes before them
};

/// One tensor of one call. The bytes of [begin, end) outside the payload are canaries.
struct Region {
  std::uint64_t begin = 0, payload = 0, bytes = 0, end = 0;
  std::uint64_t elements = 0;
};

struct Layout {
  std::vector<std::vector<Region>> calls;  ///< [call][tensor, in the task's order]
  std::vector<Guard> guards;
  std::uint64_t outputs_begin = 0, outputs_end = 0;  ///< kDevice: all that calls write
  std::uint64_t total = 0;                           ///< where it ends, whole pages
};

/// `exact`: float outputs are doubles, as the reference's second form writes them, unless the task's answers are narrow.
/// `from`: where in the arena it begins, whole pages.
Result<Layout> lay_out(const Task& task, const Dims& dims, std::size_t calls, Placement placement,
                       bool exact, std::uint64_t from = 0);

/// The dtype a tensor has in this form.
DType form_dtype(const Tensor& tensor, bool exact);

/// Whether a module's tensors take over an eighth of the device. Then its reference answers in its own types without TF32
/// instead of in double (module_reference.py), and its answers are stored in these types.
bool answers_are_narrow(const Task& task, std::uint64_t device_bytes);

}  // namespace hone
