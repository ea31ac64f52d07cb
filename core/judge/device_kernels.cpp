// Launching the judge's kernels over tables of items.
#include "judge/device_kernels.hpp"

#include <algorithm>
#include <iterator>

#include "plugin/call.hpp"

namespace hone {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksPerItem = 64, kBlocksMax = 4096;
constexpr std::uint64_t kTableBytes = 4u << 20;
constexpr std::uint64_t kResultBytes = 1u << 20;
constexpr std::uint32_t kArgumentCounts[kKernelCount] = {1, 1, 2, 2, 3, 3};

}  // namespace

const char* const kKernelNames[kKernelCount] = {"hone_fill", "hone_load",   "hone_inspect",
                                                "hone_rms",  "hone_sample", "hone_compare"};

std::uint64_t dtype_number(DType dtype) {
  static constexpr std::string_view kNames[] = {"f32", "f64", "i8",  "u8",  "i32",
                                                "u32", "i64", "f16", "bf16"};
  const auto found = std::find(std::begin(kNames), std::end(kNames), dtype_name(dtype));
  return static_cast<std::uint64_t>(found - std::begin(kNames));
}

DeviceKernels::DeviceKernels(const Backend& backend, hone_device* device)
    : library_(backend), backend_(*backend.factory()), device_(device) {}

DeviceKernels::~DeviceKernels() { backend_.unload(artifact_); }

Status DeviceKernels::open(int harness) {
  hone_error error = empty_error();
  HONE_TRY(check(backend_.load(device_, harness, &artifact_, &error), error));
  const std::uint32_t kinds[] = {HONE_ARGUMENT_ADDRESS, HONE_ARGUMENT_ADDRESS,
                                 HONE_ARGUMENT_ADDRESS};
  for (std::size_t i = 0; i < kKernelCount; ++i) {
    HONE_TRY(check(backend_.get_kernel(artifact_, kKernelNames[i], kinds, kArgumentCounts[i],
                                       &kernels_[i], &error),
                   error));
  }
  HONE_ASSIGN(table_, Arena::create(library_, device_, kTableBytes + kResultBytes, false));
  return {};
}

Status DeviceKernels::check(std::int32_t code, const hone_error& error) const {
  if (code == HONE_OK) return {};
  return Error{Code::kUnavailable, std::string("workbench: ") + error.message};
}

Status DeviceKernels::wait() {
  hone_error error = empty_error();
  return check(backend_.wait(device_, &error), error);
}

Result<std::unique_ptr<Arena>> DeviceKernels::make_arena(std::uint64_t bytes) {
  if (auto spare = spares_.take(bytes)) return spare;
  return Arena::create(library_, device_, bytes, false);
}

Status DeviceKernels::reserve(std::unique_ptr<Arena>& area, std::uint64_t count) {
  const std::uint64_t bytes = count * sizeof(double);
  if (area != nullptr && area->bytes() >= bytes) return {};
  area.reset();
  HONE_ASSIGN(area, make_arena(bytes));
  return {};
}

Status DeviceKernels::put_table(const std::vector<Item>& items) {
  const std::uint64_t bytes = items.size() * sizeof(Item);
  if (bytes > kTableBytes) return internal_error("workbench: too many items");
  hone_error error = empty_error();
  return check(backend_.write_buffer(table_->buffer(), 0, items.data(), bytes, &error), error);
}

Status DeviceKernels::launch(KernelIndex kernel, std::uint32_t count,
                             std::vector<std::uint64_t> further) {
  further.insert(further.begin(), address(*table_));
  hone_error error = empty_error();
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

Status DeviceKernels::run(KernelIndex kernel, const std::vector<Item>& items,
                          std::vector<std::uint64_t> further) {
  if (items.empty()) return {};
  HONE_TRY(put_table(items));
  HONE_TRY(launch(kernel, static_cast<std::uint32_t>(items.size()), std::move(further)));
  return wait();
}

Status DeviceKernels::run_for_bytes(KernelIndex kernel, const std::vector<Item>& items,
                                    std::vector<std::uint64_t> further, void* results,
                                    std::uint64_t bytes) {
  if (bytes > kResultBytes) return internal_error("workbench: too many results");
  hone_error error = empty_error();
  HONE_TRY(
      check(backend_.write_buffer(table_->buffer(), kTableBytes, results, bytes, &error), error));
  further.push_back(address(*table_) + kTableBytes);
  HONE_TRY(run(kernel, items, std::move(further)));
  return check(backend_.read_buffer(table_->buffer(), kTableBytes, results, bytes, &error), error);
}

}  // namespace hone
