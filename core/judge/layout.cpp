// Places tensors one after another, each in pages of its own.
#include "judge/layout.hpp"

#include <algorithm>

namespace hone {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCanary = 64;  // at least so many canary bytes before and behind a payload
constexpr std::uint64_t kArenaMax = std::uint64_t{64} << 30;

std::uint64_t up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

DType form_dtype(const Tensor& tensor, bool exact) {
  return exact && tensor.role != Role::kIn && dtype_is_float(tensor.dtype) ? DType::kF64
                                                                           : tensor.dtype;
}

Result<Layout> lay_out(const Task& task, const Dims& dims, std::size_t calls, Placement placement,
                       bool exact) {
  Layout layout;
  for (std::size_t call = 0; call < calls; ++call) {
    std::vector<Region> regions;
    for (const Tensor& tensor : task.tensors) {
      HONE_ASSIGN(const std::int64_t elements, element_count(tensor, dims));
      const std::size_t element = dtype_size(form_dtype(tensor, exact));
      Region r;
      r.elements = static_cast<std::uint64_t>(elements);
      r.bytes = r.elements * element;
      r.begin = layout.total;
      if (placement == Placement::kCanaries) {
        r.payload = r.begin + kCanary;
        r.end = up(r.payload + r.bytes + kCanary, kPage);
        layout.total = r.end;
      } else {
        const std::uint64_t grain =
            std::max<std::uint64_t>(static_cast<std::uint64_t>(task.alignment), element);
        r.end = up(r.begin + kCanary + up(r.bytes, grain), kPage);
        r.payload = r.end - up(r.bytes, grain);
        layout.guards.push_back({r.end, kPage});
        layout.total = r.end + kPage;
      }
      if (layout.total > kArenaMax) return invalid_argument("tensors need more than 64 GiB");
      regions.push_back(r);
    }
    layout.calls.push_back(std::move(regions));
  }
  return layout;
}

}  // namespace hone
