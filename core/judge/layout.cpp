// Places tensors one after another, each in its own pages.
#include "judge/layout.hpp"

#include <algorithm>

namespace hone {
namespace {

constexpr std::uint64_t kPage = 4096;
// Least number of canary bytes before and after a payload: on the host, and on devices, whose vendors align memory to it.
constexpr std::uint64_t kCanary = 64;
constexpr std::uint64_t kDeviceCanary = 256;
// Prevents overflow only: memory_budget.hpp (core/evaluate) compares a task's need with the device's memory.
constexpr std::uint64_t kArenaMax = std::uint64_t{1} << 40;

std::uint64_t up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

/// Places one tensor after those that are placed.
void place_region(Region& r, std::uint64_t alignment, Placement placement, Layout& layout) {
  r.begin = layout.total;
  if (placement != Placement::kGuards) {
    const std::uint64_t canary = placement == Placement::kDevice ? kDeviceCanary : kCanary;
    r.payload = r.begin + canary;
    r.end = up(r.payload + r.bytes + canary, kPage);
    layout.total = r.end;
  } else {
    r.end = up(r.begin + kCanary + up(r.bytes, alignment), kPage);
    r.payload = r.end - up(r.bytes, alignment);
    layout.guards.push_back({r.end, kPage});
    layout.total = r.end + kPage;
  }
}

enum class Which { kAll, kRead, kWritten };

/// Gives each call's tensors their places behind those that are placed already. `which`: all tensors, only those that a
/// call reads, or only those that it writes.
Status place(const Task& task, const Dims& dims, Placement placement, bool exact, Which which,
             Layout& layout) {
  for (std::vector<Region>& regions : layout.calls) {
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Tensor& tensor = task.tensors[t];
      if (which != Which::kAll && (tensor.role != Role::kIn) != (which == Which::kWritten))
        continue;
      HONE_ASSIGN(const std::int64_t elements, element_count(tensor, dims));
      const std::size_t element = dtype_size(form_dtype(tensor, exact && !task.narrow_answers));
      Region& r = regions[t];
      r.elements = static_cast<std::uint64_t>(elements);
      r.bytes = r.elements * element;
      place_region(r, std::max<std::uint64_t>(static_cast<std::uint64_t>(task.alignment), element),
                   placement, layout);
      if (layout.total > kArenaMax) return invalid_argument("tensors need more than 1 TiB");
    }
  }
  return {};
}

}  // namespace

DType form_dtype(const Tensor& tensor, bool exact) {
  return exact && tensor.role != Role::kIn && dtype_is_float(tensor.dtype) ? DType::kF64
                                                                           : tensor.dtype;
}

bool answers_are_narrow(const Task& task, std::uint64_t device_bytes) {
  constexpr std::uint64_t kDoubleShare = 8;
  if (device_bytes == 0 || !task.tolerance.from_reference) return false;
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : task.tensors) {
    const auto count = element_count(tensor, task.timed);
    if (!count) return false;
    const std::uint64_t size = static_cast<std::uint64_t>(*count) * dtype_size(tensor.dtype);
    // The double form has parameters of its own.
    bytes += (tensor.name.starts_with("parameters") ? 3 : 1) * size;
  }
  return bytes > device_bytes / kDoubleShare;
}

Result<Layout> lay_out(const Task& task, const Dims& dims, std::size_t calls, Placement placement,
                       bool exact, std::uint64_t from) {
  Layout layout;
  layout.total = from;
  layout.calls.assign(calls, std::vector<Region>(task.tensors.size()));
  if (placement != Placement::kDevice) {
    HONE_TRY(place(task, dims, placement, exact, Which::kAll, layout));
    return layout;
  }
  HONE_TRY(place(task, dims, placement, exact, Which::kRead, layout));
  layout.outputs_begin = layout.total;
  HONE_TRY(place(task, dims, placement, exact, Which::kWritten, layout));
  layout.outputs_end = layout.total;
  return layout;
}

}  // namespace hone
