// The workbench over a device's memory: tables of items for the kernels of harness/harness.cu.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/clock.hpp"
#include "judge/device_compare.hpp"
#include "judge/device_kernels.hpp"
#include "judge/fill.hpp"
#include "judge/harness_text.hpp"
#include "judge/workbench.hpp"
#include "model/fields.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kFlushShare =
    2;  // bytes written to make caches cold, as a multiple of their size
constexpr double kStillSeconds = 6e-3;  // three time slices of a device between contexts
constexpr double kStillShare = 0.8, kStillAwaySeconds = 2e-3;
constexpr int kFirstChecks = 4, kStillChecks = 3;  // checks; a single one is slow now and then

std::uint64_t kind_of(const std::string& kind) {
  static constexpr std::string_view kKinds[] = {"normal", "uniform", "integers", "constant",
                                                "cancel", "scaled",  "ties",     "sparse",
                                                "ramp",   "offsets"};
  const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
  return found == std::end(kKinds) ? 0 : static_cast<std::uint64_t>(found - std::begin(kKinds));
}

Item fill_item(const FillOrder& o, std::uint64_t base) {
  const Generator& g = o.generator;
  const auto low = static_cast<std::int64_t>(std::llround(std::clamp(g.a, -9.2e18, 9.2e18)));
  const auto high =
      std::max(low, static_cast<std::int64_t>(std::llround(std::clamp(g.b, -9.2e18, 9.2e18))));
  Item item{base + o.at, o.count, dtype_number(o.dtype), kind_of(g.kind), word(g.a),
            word(g.b),   o.seed};
  item[8] = static_cast<std::uint64_t>(low);
  item[9] = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (g.kind == "ties") {
    item[7] = derive_seed(o.seed, "palette");
    item[9] = std::max(2u, static_cast<std::uint32_t>(std::clamp(g.a, 0.0, 1e9)));
  } else if (g.kind == "sparse") {
    item[7] = derive_seed(o.seed, "zero");
  } else if (g.kind == "scaled") {
    const float scale =
        std::ldexp(1.0f, static_cast<int>(draw_integer(derive_seed(o.seed, "scale"), low, high)));
    const float offset = static_cast<float>(draw(derive_seed(o.seed, "offset"), -3.0, 3.0)) * scale;
    item[10] = bits<std::uint32_t>(scale);
    item[11] = bits<std::uint32_t>(offset);
  }
  return item;
}

class DeviceWorkbench : public Workbench {
 public:
  DeviceWorkbench(const Backend& backend, hone_device* device)
      : library_(backend), device_(device), kernels_(backend, device), comparison_(kernels_) {}

  Status open(const Backend& backend, int harness, const Value& facts) {
    Fields f(facts, "facts");
    bytes_per_second_ = f.number("bytes_per_second_max", 0, 1e300);
    const std::int64_t caches = f.integer_or("cache_bytes", 0, 0, std::int64_t{1} << 40);
    memory_bytes_ = static_cast<std::uint64_t>(f.integer_or("memory_bytes", 0, 0, INT64_MAX));
    HONE_TRY(f.finish_loosely());
    HONE_TRY(kernels_.open(harness));
    flush_bytes_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(caches) * kFlushShare, 4096);
    HONE_ASSIGN(flush_, Arena::create(backend, device_, flush_bytes_, false));
    flush_bytes_ = flush_->bytes();
    // No other context exists yet: the least time of a move.
    for (int check = 0; check < kFirstChecks; ++check) HONE_TRY(measure_contention(kStillSeconds));
    return {};
  }

  Status fill(const Arena& arena, const std::vector<FillOrder>& orders) override {
    std::vector<Item> items;
    const std::uint64_t base = kernels_.address(arena);
    for (const FillOrder& o : orders) items.push_back(fill_item(o, base));
    return kernels_.run(kFill, items, {});
  }

  Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
              std::uint64_t canary_seed) override {
    std::vector<Item> items;
    for (const LoadOrder& o : orders) {
      const Region& r = o.region;
      items.push_back({kernels_.address(to), r.begin, r.payload, r.bytes, r.end,
                       kernels_.address(masters) + o.master, static_cast<std::uint64_t>(o.kind),
                       o.poison, canary_seed});
    }
    return kernels_.run(kLoad, items, {});
  }

  Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                         const std::vector<InspectOrder>& orders,
                                         std::uint64_t canary_seed) override {
    std::vector<Item> items;
    for (const InspectOrder& o : orders) {
      const Region& r = o.region;
      items.push_back({kernels_.address(arena), r.begin, r.payload, r.bytes, r.end,
                       o.unchanged ? kernels_.address(masters) + o.master : 0, 0, 0, canary_seed});
    }
    std::vector<std::uint32_t> found(2 * items.size());
    HONE_TRY(kernels_.run_for(kInspect, items, {}, found));
    std::vector<Inspected> all;
    for (std::size_t i = 0; i < items.size(); ++i)
      all.push_back({found[2 * i] == 0, found[2 * i + 1] == 0});
    return all;
  }

  Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                               const std::vector<CompareOrder>& orders) override {
    return comparison_.compare(got, expected, orders);
  }

  Result<std::vector<bool>> agree(const std::vector<CompareGroup>& groups) override {
    return comparison_.agree(groups);
  }

  Result<bool> throttled() const override {
    HONE_ASSIGN(const Value facts, library_.facts(device_));
    const Value* reasons = facts.find("throttled");
    return reasons != nullptr && reasons->is_array() && !reasons->as_array().empty();
  }

  Status snapshot(const Arena& from, std::uint64_t begin, std::uint64_t bytes,
                  std::unique_ptr<Arena>& into) override {
    if (into == nullptr || into->bytes() < bytes) {
      kernels_.keep_spare(std::move(into));
      HONE_ASSIGN(into, kernels_.make_arena(bytes));
    }
    hone_error error = empty_error();
    HONE_TRY(kernels_.check(kernels_.backend().copy_buffer(into->buffer(), 0, from.buffer(),
                                                           begin - from.origin(), bytes, &error),
                            error));
    into->set_origin(begin);
    return kernels_.wait();
  }

  Status make_room(std::uint64_t bytes, std::unique_ptr<Arena>& into) override {
    HONE_ASSIGN(into, kernels_.make_arena(bytes));
    return {};
  }

  bool has_free(std::uint64_t bytes) override {
    const hone_backend_factory& backend = kernels_.backend();
    if (backend.free_memory == nullptr) return true;
    hone_error error = empty_error();
    std::uint64_t free_bytes = 0;
    return backend.free_memory(device_, &free_bytes, &error) == HONE_OK && free_bytes >= bytes;
  }
  void keep_spare(std::unique_ptr<Arena> spare) override { kernels_.keep_spare(std::move(spare)); }
  void release_spares() override { kernels_.release_spares(); }

  Status scrub(const Arena& arena) override { return overwrite(arena, arena.bytes(), 0); }

  double bytes_per_second_max(const Task&) const override {
    return bytes_per_second_ > 0 ? bytes_per_second_ : 1e300;
  }
  Placement placement() const override { return Placement::kDevice; }
  std::uint64_t memory_bytes() const override { return memory_bytes_; }

  Status make_busy(double seconds) override {
    const auto rate = overwrites_per_second(seconds);
    return rate ? Status() : Status(rate.error());
  }

  /// Rationale: two contexts with work take turns of two milliseconds, so the judge's gets half of the device.
  bool is_still() override {
    for (int check = 0; check < kStillChecks; ++check) {
      const auto found = measure_contention(kStillSeconds);
      if (!found || found->slowdown > 1 / kStillShare || found->away_s > kStillAwaySeconds)
        continue;
      if (found->slowdown > 0) return true;  // by the device's clock: the processor may be delayed
      const auto rate = overwrites_per_second(kStillSeconds);
      if (rate && *rate >= kStillShare * most_overwrites_per_second_) return true;
    }
    return false;
  }

  /// Rationale: all moves are queued before the first has ended, so delays of the processor show only before the first move. The
  /// wait for another context's turn shows there, too.
  Result<DeviceContention> measure_contention(double seconds) override {
    const hone_backend_factory& backend = kernels_.backend();
    if (backend.mark == nullptr) return DeviceContention{};
    const int moves =
        least_move_s_ > 0 ? std::max(1, static_cast<int>(seconds / least_move_s_)) : 1;
    hone_error error = empty_error();
    HONE_TRY(kernels_.put_table({overwrite_item(*flush_, flush_bytes_, ++flushes_)}));
    const double start = monotonic_s();
    HONE_TRY(kernels_.launch(kLoad, 1, {}));  // writes back dirty lines that other contexts left
    HONE_TRY(kernels_.check(backend.mark(device_, 0, &error), error));
    for (int i = 0; i < moves; ++i) HONE_TRY(kernels_.launch(kLoad, 1, {}));
    HONE_TRY(kernels_.check(backend.mark(device_, 1, &error), error));
    HONE_TRY(kernels_.wait());
    const double whole_s = monotonic_s() - start;
    double took_s = 0;
    HONE_TRY(kernels_.check(backend.between_marks(device_, &took_s, &error), error));
    const double each = took_s / moves;
    if (each <= 0) return DeviceContention{};
    least_move_s_ = least_move_s_ > 0 ? std::min(least_move_s_, each) : each;
    return DeviceContention{each / least_move_s_, whole_s - took_s};
  }

  Status make_cold(const Arena&, const Arena&, std::uint64_t) override {
    return overwrite(*flush_, flush_bytes_, ++flushes_);
  }

 private:
  Item overwrite_item(const Arena& arena, std::uint64_t bytes, std::uint64_t seed) const {
    return {kernels_.address(arena), 0, 0, bytes, bytes, 0, 1, seed, seed};
  }
  Status overwrite(const Arena& arena, std::uint64_t bytes, std::uint64_t seed) {
    return kernels_.run(kLoad, {overwrite_item(arena, bytes, seed)}, {});
  }

  Result<double> overwrites_per_second(double seconds) {
    const double start = monotonic_s();
    double now = start;
    int count = 0;
    for (; now - start < seconds; ++count, now = monotonic_s())
      HONE_TRY(overwrite(*flush_, flush_bytes_, ++flushes_));
    const double rate = count / (now - start);
    most_overwrites_per_second_ = std::max(most_overwrites_per_second_, rate);
    return rate;
  }

  const Backend& library_;
  hone_device* device_;
  DeviceKernels kernels_;
  DeviceCompare comparison_;
  std::unique_ptr<Arena> flush_;
  std::uint64_t flush_bytes_ = 0, flushes_ = 0, memory_bytes_ = 0;
  double bytes_per_second_ = 0;
  double most_overwrites_per_second_ = 0;  ///< highest rate measured
  double least_move_s_ = 0;                ///< by the device's own clock
};

}  // namespace

Result<std::unique_ptr<Workbench>> make_device_workbench(const Backend& backend,
                                                         hone_device* device, int harness,
                                                         const Value& facts) {
  auto workbench = std::make_unique<DeviceWorkbench>(backend, device);
  HONE_TRY(workbench->open(backend, harness, facts));
  return std::unique_ptr<Workbench>(std::move(workbench));
}

std::string_view harness_source() { return kHarnessText; }

std::vector<std::string> harness_kernels() {
  return {std::begin(kKernelNames), std::end(kKernelNames)};
}

}  // namespace hone
