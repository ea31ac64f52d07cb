// The workbench over arenas that this process has mapped.
#include <cstring>

#include "judge/compare.hpp"
#include "judge/evict.hpp"
#include "judge/fill.hpp"
#include "judge/workbench.hpp"

namespace hone {
namespace {

/// No load and store unit is faster, caches or not: 128 bytes a cycle at 6 GHz.
constexpr double kCoreBytesPerSecond = 128 * 6e9;

/// The two canary stretches of a region.
template <typename Visit>
void canaries(const Region& r, Visit visit) {
  visit(r.begin, r.payload);
  visit(r.payload + r.bytes, r.end);
}

class HostWorkbench : public Workbench {
 public:
  Status fill(const Arena& arena, const std::vector<FillOrder>& orders) override {
    for (const FillOrder& o : orders)
      fill_tensor(arena.base() + o.at, o.dtype, o.count, o.generator, o.seed);
    return {};
  }

  Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
              std::uint64_t canary_seed) override {
    for (const LoadOrder& o : orders) {
      const Region& r = o.region;
      canaries(r, [&](std::uint64_t from, std::uint64_t end) {
        write_pattern(to.base(), from, end, canary_seed);
      });
      if (o.kind == LoadOrder::Kind::kCopy)
        std::memcpy(to.base() + r.payload, masters.base() + o.master, r.bytes);
      if (o.kind == LoadOrder::Kind::kPoison)
        write_pattern(to.base(), r.payload, r.payload + r.bytes, o.poison);
    }
    return {};
  }

  Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                         const std::vector<InspectOrder>& orders,
                                         std::uint64_t canary_seed) override {
    std::vector<Inspected> found;
    for (const InspectOrder& o : orders) {
      Inspected one;
      canaries(o.region, [&](std::uint64_t from, std::uint64_t to) {
        one.canaries_stand =
            one.canaries_stand && pattern_stands(arena.base(), from, to, canary_seed);
      });
      one.unchanged = !o.unchanged || std::memcmp(arena.base() + o.region.payload,
                                                  masters.base() + o.master, o.region.bytes) == 0;
      found.push_back(one);
    }
    return found;
  }

  Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                               const std::vector<CompareOrder>& orders) override {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const CompareOrder& o = orders[i];
      if (o.expected_dtype != (dtype_is_float(o.dtype) ? DType::kF64 : o.dtype))
        return internal_error("compare: expected answers as f64, found " +
                              std::string(dtype_name(o.expected_dtype)));
      auto mismatch = compare_output(got.base() + o.got, expected.base() + o.expected, o.dtype,
                                     o.count, o.row, o.tolerance);
      if (mismatch) return std::optional<FoundMismatch>({i, std::move(*mismatch)});
    }
    return std::optional<FoundMismatch>();
  }

  double bytes_per_second_max(const Task& task) const override {
    return kCoreBytesPerSecond * task.threads;
  }

  Result<bool> throttled() const override { return false; }  // processors do not report it

  Status snapshot(const Arena&, std::uint64_t, std::uint64_t, std::unique_ptr<Arena>&) override {
    return internal_error("a frozen process needs no copy");
  }
  Status make_room(std::uint64_t, std::unique_ptr<Arena>&) override {
    return internal_error("a frozen process needs no copy");
  }

  Status scrub(const Arena& arena) override {
    std::memset(arena.base(), 0, arena.bytes());
    return {};
  }

  Placement placement() const override { return Placement::kCanaries; }

  Status make_cold(const Arena& a, const Arena& b, std::uint64_t bytes) override {
    evict(a.base(), bytes);
    evict(b.base(), bytes);
    return {};
  }
};

}  // namespace

std::unique_ptr<Workbench> make_host_workbench() { return std::make_unique<HostWorkbench>(); }

}  // namespace hone
