// Compares in a device's memory: first sums and samples of the exact values, then each element.
#include "judge/device_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "judge/compare.hpp"

namespace hone {
namespace {

constexpr double kSquareable = 1e300;
constexpr std::size_t kItemsAtOnce = 8192;  // the area of results holds 32,768 (device_kernels.cpp)

/// The norm of an output's errors, from the results of the kernel. `count`: elements of the output.
double norm_of(const std::vector<std::uint64_t>& results, std::size_t output, std::uint64_t count) {
  return std::sqrt(bits<double>(results[4 * output + 3]) / static_cast<double>(count));
}

/// The smaller of two limits; 0 means no limit.
double stricter_norm(double one, double other) {
  if (one <= 0 || other <= 0) return std::max(one, other);
  return std::min(one, other);
}

}  // namespace

Result<std::optional<FoundMismatch>> DeviceCompare::compare(
    const Arena& got, const Arena& expected, const std::vector<CompareOrder>& orders) {
  std::vector<Item> items;
  std::uint64_t sums = 0;
  bool wants_sums = false, wants_samples = false;
  for (const CompareOrder& o : orders) {
    const Tolerance& t = o.tolerance.usual;
    items.push_back(item_of(got, expected, o, sums));
    sums += (o.count + items.back()[4] - 1) / items.back()[4];
    wants_samples = wants_samples || t.from_reference;
    wants_sums = wants_sums || t.rms > 0 || t.from_reference;  // a sample is compared with the sum
  }
  HONE_TRY(kernels_.reserve(sums_, wants_sums ? sums : 1));
  if (wants_sums) {
    HONE_ASSIGN(const std::vector<bool> agreed, agree({{&got, &expected, orders}}));
    if (agreed.front()) return std::optional<FoundMismatch>();
    HONE_TRY(
        kernels_.run(kFill, {{kernels_.address(*sums_), sums, 1, 3}}, {}));  // with a constant, 0
    HONE_TRY(kernels_.run(kRms, items, {kernels_.address(*sums_)}));
  }
  std::vector<Held> held;
  if (wants_samples) {
    HONE_ASSIGN(held, held_of(orders, items));
  } else {
    for (const CompareOrder& o : orders) held.push_back({&o.tolerance.usual, 0});
  }
  std::vector<std::uint64_t> results(4 * items.size());
  HONE_TRY(kernels_.run_for(kCompare, items, {kernels_.address(*sums_)}, results));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto outside = static_cast<std::int64_t>(results[4 * i]);
    const Tolerance& t = *held[i].tolerance;
    const double norm = norm_of(results, i, orders[i].count);
    const bool few = may_be_outside(orders[i].tolerance, outside, orders[i].count);
    if (few && (t.norm <= 0 || norm <= t.norm)) continue;
    Mismatch mismatch;
    mismatch.total = static_cast<std::int64_t>(orders[i].count);
    mismatch.wrong = outside;
    mismatch.nans = static_cast<std::int64_t>(results[4 * i + 1]);
    const auto at = static_cast<std::uint32_t>(~results[4 * i + 2]);
    HONE_TRY(place(got, expected, orders[i], items[i], t, at, mismatch));
    if (few) {
      mismatch.norm = norm;
      mismatch.norm_allowed = t.norm;
      mismatch.tolerance = 0;
    }
    return std::optional<FoundMismatch>({i, std::move(mismatch)});
  }
  return std::optional<FoundMismatch>();
}

/// `sums`: the number of its first sum of squares.
Item DeviceCompare::item_of(const Arena& got, const Arena& expected, const CompareOrder& o,
                            std::uint64_t sums) const {
  const Tolerance& t = o.tolerance.usual;
  const std::uint64_t step =
      t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(o.row, 1) : o.count;
  Item item{kernels_.address(got) + o.got,
            kernels_.address(expected) + o.expected,
            dtype_number(o.dtype),
            o.count,
            step,
            word(t.atol),
            word(t.rtol),
            word(t.rms),
            sums};
  item[12] = dtype_number(o.expected_dtype);
  item[11] = word(t.from_reference ? std::min(largest_of(o.dtype), kSquareable) : kSquareable);
  return item;
}

Result<std::vector<bool>> DeviceCompare::agree(const std::vector<CompareGroup>& groups) {
  std::vector<bool> agreed;
  std::vector<Item> items;
  std::vector<std::size_t> group_of;  // of each item
  std::vector<double> norms;
  HONE_TRY(kernels_.reserve(sums_, 1));
  for (std::size_t first = 0; first < groups.size(); first = agreed.size()) {
    items.clear();
    group_of.clear();
    norms.clear();
    while (agreed.size() < groups.size() && items.size() < kItemsAtOnce) {
      const CompareGroup& group = groups[agreed.size()];
      for (const CompareOrder& o : group.orders) {
        const Tolerance &usual = o.tolerance.usual, &wide = o.tolerance.wide;
        norms.push_back(stricter_norm(usual.norm, wide.norm));
        Item item = item_of(*group.got, *group.expected, o, 0);
        item[5] = word(std::min(usual.atol, wide.atol));
        item[6] = word(std::min(usual.rtol, wide.rtol));
        item[7] = word(0.0);
        item[9] = word(norms.back() > 0 ? smallest_of(o.dtype) : 0.0);
        item[10] = norms.back() > 0;
        items.push_back(item);
        group_of.push_back(agreed.size());
      }
      agreed.push_back(true);
    }
    std::vector<std::uint64_t> results(4 * items.size());
    HONE_TRY(kernels_.run_for(kCompare, items, {kernels_.address(*sums_)}, results));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double norm = norm_of(results, i, items[i][3]);
      if (results[4 * i] != 0 || (norms[i] > 0 && !(norm <= norms[i]))) agreed[group_of[i]] = false;
    }
  }
  return agreed;
}

/// What each tensor is held to, by the sums of its squares and a sample of its elements; written to the items, too.
Result<std::vector<Held>> DeviceCompare::held_of(const std::vector<CompareOrder>& orders,
                                                 std::vector<Item>& items) {
  HONE_TRY(kernels_.reserve(samples_, orders.size() * kSample));
  HONE_TRY(kernels_.run(kSampled, items, {kernels_.address(*samples_), kSample}));
  // Rationale: each read waits for the device, which may be busy with the work of other lanes.
  HONE_ASSIGN(const auto samples, samples_->read(0, orders.size() * kSample * 8));
  HONE_ASSIGN(const auto sums, sums_->read(0, (items.back()[8] + 1) * 8));
  std::vector<Held> held;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const CompareOrder& o = orders[i];
    held.push_back({&o.tolerance.usual, 0});
    if (!o.tolerance.usual.from_reference || !dtype_is_float(o.dtype)) continue;
    std::vector<double> sample(std::min(o.count, kSample));
    std::memcpy(sample.data(), samples.data() + i * kSample * 8, sample.size() * 8);
    double squares = 0;
    std::memcpy(&squares, sums.data() + items[i][8] * 8, sizeof squares);
    const double rms = std::sqrt(squares / static_cast<double>(o.count));
    held.back() = held_to(o.tolerance, rms, small_scale(std::move(sample), rms, o.dtype));
    const Tolerance& t = *held.back().tolerance;
    items[i][5] = word(t.atol);
    items[i][6] = word(t.rtol);
    items[i][7] = word(t.rms);
    items[i][9] = word(std::max(held.back().scale, smallest_of(o.dtype)));
    items[i][10] = t.norm > 0;
  }
  return held;
}

/// The worst element's numbers, computed by the same code as on the processor.
Status DeviceCompare::place(const Arena& got, const Arena& expected, const CompareOrder& o,
                            const Item& item, const Tolerance& t, std::uint32_t at,
                            Mismatch& mismatch) {
  const bool floats = dtype_is_float(o.dtype);
  const std::uint64_t size = dtype_size(o.dtype), exact_size = dtype_size(o.expected_dtype);
  HONE_ASSIGN(const auto mine, got.read(o.got + at * size, size));
  HONE_ASSIGN(const auto right, expected.read(o.expected + at * exact_size, exact_size));
  mismatch.index = {static_cast<std::int64_t>(at)};
  mismatch.got = element_at(mine.data(), o.dtype, 0);
  mismatch.expected = element_at(right.data(), o.expected_dtype, 0);
  if (!floats) return {};
  double base = t.atol;
  if (const auto scale = bits<double>(item[9]); scale > 0) {
    base += t.rms * scale;
  } else if (t.rms > 0) {
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

}  // namespace hone
