// The workbench over a device's memory: tables of items for the kernels of harness/harness.cu.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>

#include "base/clock.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"
#include "judge/harness_text.hpp"
#include "judge/spare_arenas.hpp"
#include "judge/workbench.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::size_t kWords = 12;  // of an item, as in harness.cu
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksPerItem = 64, kBlocksMax = 4096;
constexpr std::uint64_t kTableBytes = 4u << 20;
constexpr std::uint64_t kResultBytes = 1u << 20;
constexpr std::uint64_t kFlushShare = 2;  // so many times the caches are written to make them cold
constexpr double kStillSeconds = 6e-3;    // three turns of a device's between contexts
constexpr double kStillShare = 0.8, kStillAwaySeconds = 2e-3;
constexpr int kFirstLooks = 4, kStillLooks = 3;  // one alone is slow now and then

constexpr const char* kKernels[] = {"hone_fill", "hone_load", "hone_inspect", "hone_rms",
                                    "hone_compare"};
enum KernelIndex { kFill, kLoad, kInspect, kRms, kCompare };

using Item = std::array<std::uint64_t, kWords>;

template <typename To, typename From>
To bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &value, sizeof to);
  return to;
}
std::uint64_t word(double value) { return bits<std::uint64_t>(value); }

std::uint64_t kind_of(const std::string& kind) {
  static constexpr std::string_view kKinds[] = {"normal", "uniform", "integers", "constant",
                                                "cancel", "scaled",  "ties",     "sparse",
                                                "ramp",   "offsets"};
  const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
  return found == std::end(kKinds) ? 0 : static_cast<std::uint64_t>(found - std::begin(kKinds));
}

/// The numbers of harness.cu.
std::uint64_t dtype_number(DType dtype) {
  static constexpr std::string_view kNames[] = {"f32", "f64", "i8",  "u8",  "i32",
                                                "u32", "i64", "f16", "bf16"};
  const auto found = std::find(std::begin(kNames), std::end(kNames), dtype_name(dtype));
  return static_cast<std::uint64_t>(found - std::begin(kNames));
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
      : library_(backend), backend_(*backend.factory()), device_(device) {}
  ~DeviceWorkbench() override { backend_.unload(artifact_); }

  Status open(const Backend& backend, int harness, const Value& facts) {
    Fields f(facts, "facts");
    bytes_per_second_ = f.number("bytes_per_second_max", 0, 1e300);
    const std::int64_t caches = f.integer_or("cache_bytes", 0, 0, std::int64_t{1} << 40);
    memory_bytes_ = static_cast<std::uint64_t>(f.integer_or("memory_bytes", 0, 0, INT64_MAX));
    HONE_TRY(f.finish_loosely());
    hone_error error = fresh();
    HONE_TRY(check(backend_.load(device_, harness, &artifact_, &error), error));
    const std::uint32_t kinds[] = {HONE_ARGUMENT_ADDRESS, HONE_ARGUMENT_ADDRESS,
                                   HONE_ARGUMENT_ADDRESS};
    const std::uint32_t counts[] = {1, 1, 2, 2, 3};
    for (std::size_t i = 0; i < std::size(kKernels); ++i) {
      HONE_TRY(
          check(backend_.get_kernel(artifact_, kKernels[i], kinds, counts[i], &kernels_[i], &error),
                error));
    }
    HONE_ASSIGN(table_, Arena::create(backend, device_, kTableBytes + kResultBytes, false));
    flush_bytes_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(caches) * kFlushShare, 4096);
    HONE_ASSIGN(flush_, Arena::create(backend, device_, flush_bytes_, false));
    flush_bytes_ = flush_->bytes();
    make_arena_ = [&backend, this](std::uint64_t bytes) -> Result<std::unique_ptr<Arena>> {
      if (auto spare = spares_.take(bytes)) return spare;
      return Arena::create(backend, device_, bytes, false);
    };
    // While nobody else is there: what a move takes at the least.
    for (int look = 0; look < kFirstLooks; ++look) HONE_TRY(others_had(kStillSeconds));
    return {};
  }

  Status fill(const Arena& arena, const std::vector<FillOrder>& orders) override {
    std::vector<Item> items;
    const std::uint64_t base = address(arena);
    for (const FillOrder& o : orders) items.push_back(fill_item(o, base));
    return run(kFill, items, {});
  }

  Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
              std::uint64_t canary_seed) override {
    std::vector<Item> items;
    for (const LoadOrder& o : orders) {
      const Region& r = o.region;
      items.push_back({address(to), r.begin, r.payload, r.bytes, r.end, address(masters) + o.master,
                       static_cast<std::uint64_t>(o.kind), o.poison, canary_seed});
    }
    return run(kLoad, items, {});
  }

  Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                         const std::vector<InspectOrder>& orders,
                                         std::uint64_t canary_seed) override {
    std::vector<Item> items;
    for (const InspectOrder& o : orders) {
      const Region& r = o.region;
      items.push_back({address(arena), r.begin, r.payload, r.bytes, r.end,
                       o.unchanged ? address(masters) + o.master : 0, 0, 0, canary_seed});
    }
    std::vector<std::uint32_t> found(2 * items.size());
    HONE_TRY(run_for(kInspect, items, {}, found));
    std::vector<Inspected> all;
    for (std::size_t i = 0; i < items.size(); ++i)
      all.push_back({found[2 * i] == 0, found[2 * i + 1] == 0});
    return all;
  }

  Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                               const std::vector<CompareOrder>& orders,
                                               const Tolerance& t) override {
    std::vector<Item> items;
    std::uint64_t sums = 0;
    for (const CompareOrder& o : orders) {
      const std::uint64_t step =
          t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(o.row, 1) : o.count;
      items.push_back({address(got) + o.got, address(expected) + o.expected, dtype_number(o.dtype),
                       o.count, step, word(t.atol), word(t.rtol), word(t.rms), sums});
      sums += (o.count + step - 1) / step;
    }
    HONE_TRY(reserve_sums(t.rms > 0 ? sums : 1));
    if (t.rms > 0) {
      HONE_TRY(run(kFill, {{address(*sums_), sums, 1, 3}}, {}));  // with a constant, 0
      HONE_TRY(run(kRms, items, {address(*sums_)}));
    }
    std::vector<std::uint64_t> results(3 * items.size());
    HONE_TRY(run_for(kCompare, items, {address(*sums_)}, results));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (results[3 * i] == 0) continue;
      Mismatch mismatch;
      mismatch.total = static_cast<std::int64_t>(orders[i].count);
      mismatch.wrong = static_cast<std::int64_t>(results[3 * i]);
      mismatch.nans = static_cast<std::int64_t>(results[3 * i + 1]);
      const auto at = static_cast<std::uint32_t>(~results[3 * i + 2]);
      HONE_TRY(place(got, expected, orders[i], items[i], t, at, mismatch));
      return std::optional<FoundMismatch>({i, std::move(mismatch)});
    }
    return std::optional<FoundMismatch>();
  }

  Result<bool> throttled() const override {
    HONE_ASSIGN(const Value facts, library_.facts(device_));
    const Value* reasons = facts.find("throttled");
    return reasons != nullptr && reasons->is_array() && !reasons->as_array().empty();
  }

  Status snapshot(const Arena& from, std::uint64_t bytes, std::unique_ptr<Arena>& into) override {
    if (into == nullptr || into->bytes() < bytes) {
      spares_.keep(std::move(into));
      HONE_ASSIGN(into, make_arena_(bytes));
    }
    hone_error error = fresh();
    HONE_TRY(
        check(backend_.copy_buffer(into->buffer(), 0, from.buffer(), 0, bytes, &error), error));
    return check(backend_.wait(device_, &error), error);
  }

  void keep_spare(std::unique_ptr<Arena> spare) override { spares_.keep(std::move(spare)); }
  void release_spares() override { spares_.release(); }
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

  /// Rationale: two contexts that have work share the device by turns of two milliseconds, so that ours gets half.
  bool is_still() override {
    for (int look = 0; look < kStillLooks; ++look) {
      const auto others = others_had(kStillSeconds);
      if (!others || others->share > 1 / kStillShare || others->away_s > kStillAwaySeconds)
        continue;
      if (others->share > 0) return true;  // by its own clock: a processor may be held up
      const auto rate = overwrites_per_second(kStillSeconds);
      if (rate && *rate >= kStillShare * most_overwrites_per_second_) return true;
    }
    return false;
  }

  /// Rationale: all moves are in the queue before the first has ended, so that the processor is seen in what comes before
  /// alone. There is also where the device is waited for while it is another context's turn.
  Result<Others> others_had(double seconds) override {
    if (backend_.mark == nullptr) return Others{};
    const int moves =
        least_move_s_ > 0 ? std::max(1, static_cast<int>(seconds / least_move_s_)) : 1;
    hone_error error = fresh();
    HONE_TRY(put_table({overwrite_item(*flush_, flush_bytes_, ++flushes_)}));
    const double start = monotonic_s();
    HONE_TRY(launch(kLoad, 1, {}));  // what others left in the caches is this one's to write back
    HONE_TRY(check(backend_.mark(device_, 0, &error), error));
    for (int i = 0; i < moves; ++i) HONE_TRY(launch(kLoad, 1, {}));
    HONE_TRY(check(backend_.mark(device_, 1, &error), error));
    HONE_TRY(check(backend_.wait(device_, &error), error));
    const double whole_s = monotonic_s() - start;
    double took_s = 0;
    HONE_TRY(check(backend_.between_marks(device_, &took_s, &error), error));
    const double each = took_s / moves;
    if (each <= 0) return Others{};
    least_move_s_ = least_move_s_ > 0 ? std::min(least_move_s_, each) : each;
    return Others{each / least_move_s_, whole_s - took_s};
  }

  Status make_cold(const Arena&, const Arena&, std::uint64_t) override {
    return overwrite(*flush_, flush_bytes_, ++flushes_);
  }

 private:
  static hone_error fresh() {
    hone_error error{};
    error.struct_size = sizeof error;
    return error;
  }
  static Status check(std::int32_t code, const hone_error& error) {
    if (code == HONE_OK) return {};
    return Error{Code::kUnavailable, std::string("workbench: ") + error.message};
  }
  std::uint64_t address(const Arena& arena) const {
    return backend_.buffer_address(arena.buffer());
  }

  Item overwrite_item(const Arena& arena, std::uint64_t bytes, std::uint64_t seed) const {
    return {address(arena), 0, 0, bytes, bytes, 0, 1, seed, seed};
  }
  Status overwrite(const Arena& arena, std::uint64_t bytes, std::uint64_t seed) {
    return run(kLoad, {overwrite_item(arena, bytes, seed)}, {});
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

  Status reserve_sums(std::uint64_t count) {
    const std::uint64_t bytes = count * sizeof(double);
    if (sums_ != nullptr && sums_->bytes() >= bytes) return {};
    sums_.reset();
    HONE_ASSIGN(sums_, make_arena_(bytes));
    return {};
  }

  Status put_table(const std::vector<Item>& items) {
    const std::uint64_t bytes = items.size() * sizeof(Item);
    if (bytes > kTableBytes) return internal_error("workbench: too many items");
    hone_error error = fresh();
    return check(backend_.write_buffer(table_->buffer(), 0, items.data(), bytes, &error), error);
  }

  /// Over so many items of the table, `further` being the kernel's arguments after that. Does not wait.
  Status launch(KernelIndex kernel, std::uint32_t count, std::vector<std::uint64_t> further) {
    further.insert(further.begin(), address(*table_));
    hone_error error = fresh();
    hone_launch launch{};
    launch.struct_size = sizeof launch;
    launch.count = static_cast<std::uint32_t>(further.size());
    launch.values = further.data();
    launch.grid[0] = std::max(kBlocksPerItem, kBlocksMax / count);
    launch.grid[1] = count;
    launch.grid[2] = 1;
    launch.block[0] = kThreads;
    launch.block[1] = launch.block[2] = 1;
    return check(backend_.launch(kernels_[kernel], table_->buffer(), &launch, &error), error);
  }

  /// Runs a kernel over the items. Returns when it is done.
  Status run(KernelIndex kernel, const std::vector<Item>& items,
             std::vector<std::uint64_t> further) {
    if (items.empty()) return {};
    HONE_TRY(put_table(items));
    HONE_TRY(launch(kernel, static_cast<std::uint32_t>(items.size()), std::move(further)));
    hone_error error = fresh();
    return check(backend_.wait(device_, &error), error);
  }

  /// As run; the kernel's last argument is a cleared area, which is read into `results`.
  template <typename T>
  Status run_for(KernelIndex kernel, const std::vector<Item>& items,
                 std::vector<std::uint64_t> further, std::vector<T>& results) {
    const std::uint64_t bytes = results.size() * sizeof(T);
    if (bytes > kResultBytes) return internal_error("workbench: too many results");
    hone_error error = fresh();
    HONE_TRY(
        check(backend_.write_buffer(table_->buffer(), kTableBytes, results.data(), bytes, &error),
              error));
    further.push_back(address(*table_) + kTableBytes);
    HONE_TRY(run(kernel, items, std::move(further)));
    return check(backend_.read_buffer(table_->buffer(), kTableBytes, results.data(), bytes, &error),
                 error);
  }

  /// The worst element's numbers, by the same code as on the processor.
  Status place(const Arena& got, const Arena& expected, const CompareOrder& o, const Item& item,
               const Tolerance& t, std::uint32_t at, Mismatch& mismatch) {
    const bool floats = dtype_is_float(o.dtype);
    const std::uint64_t size = dtype_size(o.dtype), exact_size = floats ? 8 : size;
    HONE_ASSIGN(const auto mine, got.read(o.got + at * size, size));
    HONE_ASSIGN(const auto right, expected.read(o.expected + at * exact_size, exact_size));
    mismatch.index = {static_cast<std::int64_t>(at)};
    mismatch.got = element_at(mine.data(), o.dtype, 0);
    mismatch.expected = element_at(right.data(), floats ? DType::kF64 : o.dtype, 0);
    if (!floats) return {};
    double base = t.atol;
    if (t.rms > 0) {
      const std::uint64_t step = item[4], stretch = at / step;
      HONE_ASSIGN(const auto sum, sums_->read((item[8] + stretch) * 8, 8));
      const double share = static_cast<double>(std::min(step, o.count - stretch * step));
      double squares = 0;
      std::memcpy(&squares, sum.data(), sizeof squares);
      base += t.rms * std::sqrt(squares / share);
    }
    mismatch.tolerance = base + t.rtol * std::fabs(*mismatch.expected);
    return {};
  }

  const Backend& library_;
  const hone_backend_factory& backend_;
  hone_device* device_;
  hone_artifact* artifact_ = nullptr;
  hone_kernel* kernels_[std::size(kKernels)] = {};
  std::unique_ptr<Arena> table_, flush_, sums_;
  SpareArenas spares_;
  std::function<Result<std::unique_ptr<Arena>>(std::uint64_t)> make_arena_;
  std::uint64_t flush_bytes_ = 0, flushes_ = 0, memory_bytes_ = 0;
  double bytes_per_second_ = 0;
  double most_overwrites_per_second_ = 0;  ///< that there have been, as long as they are busy
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

std::vector<std::string> harness_kernels() { return {std::begin(kKernels), std::end(kKernels)}; }

}  // namespace hone
