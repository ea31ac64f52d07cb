// First fit in the order of the plan.
#include "recorded/layout.hpp"

#include <algorithm>

namespace hone_gpu {
namespace {

using hone::recorded::Memory;
using hone::recorded::Plan;

constexpr std::uint64_t kAlign = 512;

struct Placed {
  std::uint64_t begin, end;
  std::uint32_t first, last;
};

bool is_sequential(const Plan& plan) {
  return plan.streams == 1 &&
         std::none_of(plan.run.begin(), plan.run.end(), [](const hone::recorded::Step& step) {
           const auto* launch = std::get_if<hone::recorded::Launch>(&step.work);
           return launch != nullptr && launch->overlaps;
         });
}

}  // namespace

Layout lay_out(const Plan& plan) {
  Layout layout;
  const bool sequential = is_sequential(plan);
  std::vector<Placed> placed;  // in the order of their begins
  for (const Memory& memory : plan.memories) {
    layout.offsets.push_back(0);
    if (memory.kind != hone::recorded::MemoryKind::kPrivate || memory.bytes == 0) continue;
    const std::uint64_t size = round_up(memory.bytes, kAlign);
    std::uint64_t at = 0;
    for (const Placed& other : placed) {
      const bool apart = other.last < memory.first || memory.last < other.first;
      if (sequential && apart) continue;
      if (other.begin >= at + size) break;
      at = std::max(at, other.end);
    }
    const auto before = [](const Placed& one, std::uint64_t begin) { return one.begin < begin; };
    placed.insert(std::lower_bound(placed.begin(), placed.end(), at, before),
                  {at, at + size, memory.first, memory.last});
    layout.offsets.back() = at;
    layout.bytes = std::max(layout.bytes, at + size);
  }
  return layout;
}

}  // namespace hone_gpu
