// DeviceKernels: the kernels of harness/harness.cu in the judge's context, and tables of items for them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "judge/arena.hpp"
#include "judge/spare_arenas.hpp"
#include "model/dtype.hpp"
#include "plugin/backend.hpp"

namespace hone {

inline constexpr std::size_t kItemWords = 13;  // of an item, as in harness.cu
using Item = std::array<std::uint64_t, kItemWords>;

template <typename To, typename From>
To bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &value, sizeof to);
  return to;
}
inline std::uint64_t word(double value) { return bits<std::uint64_t>(value); }

/// The numbers of harness.cu.
std::uint64_t dtype_number(DType dtype);

enum KernelIndex { kFill, kLoad, kInspect, kRms, kSampled, kCompare, kKernelCount };
extern const char* const kKernelNames[kKernelCount];

/// One thread. `device` and `backend` outlive it.
class DeviceKernels {
 public:
  DeviceKernels(const Backend& backend, hone_device* device);
  ~DeviceKernels();
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;

  /// `harness`: a descriptor of harness_source() as the backend has built it.
  Status open(int harness);

  const hone_backend_factory& backend() const { return backend_; }
  std::uint64_t address(const Arena& arena) const {
    return backend_.buffer_address(arena.buffer()) - arena.origin();
  }
  /// Returns once the device has done all that it was given.
  Status wait();
  Status check(std::int32_t code, const hone_error& error) const;

  /// A spare one, or a new one.
  Result<std::unique_ptr<Arena>> make_arena(std::uint64_t bytes);
  void keep_spare(std::unique_ptr<Arena> spare) { spares_.keep(std::move(spare)); }
  void release_spares() { spares_.release(); }
  /// Makes `area` large enough for `count` doubles.
  Status reserve(std::unique_ptr<Arena>& area, std::uint64_t count);

  Status put_table(const std::vector<Item>& items);
  /// Starts a kernel over the first `count` items of the table, `further` being the kernel's arguments after that. Does not wait.
  Status launch(KernelIndex kernel, std::uint32_t count, std::vector<std::uint64_t> further);
  /// Runs a kernel over the items. Returns when it is done.
  Status run(KernelIndex kernel, const std::vector<Item>& items,
             std::vector<std::uint64_t> further);
  /// As run; the kernel's last argument is a cleared area, which is read into `results`.
  template <typename T>
  Status run_for(KernelIndex kernel, const std::vector<Item>& items,
                 std::vector<std::uint64_t> further, std::vector<T>& results) {
    return run_for_bytes(kernel, items, std::move(further), results.data(),
                         results.size() * sizeof(T));
  }

 private:
  Status run_for_bytes(KernelIndex kernel, const std::vector<Item>& items,
                       std::vector<std::uint64_t> further, void* results, std::uint64_t bytes);

  const Backend& library_;
  const hone_backend_factory& backend_;
  hone_device* device_;
  hone_artifact* artifact_ = nullptr;
  hone_kernel* kernels_[kKernelCount] = {};
  std::unique_ptr<Arena> table_;
  SpareArenas spares_;
};

}  // namespace hone
