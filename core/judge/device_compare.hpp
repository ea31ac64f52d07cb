// DeviceCompare: compares outputs that lie in a device's memory, as compare.hpp does on the processor.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "judge/device_kernels.hpp"
#include "judge/workbench.hpp"

namespace hone {

/// One thread.
class DeviceCompare {
 public:
  explicit DeviceCompare(DeviceKernels& kernels) : kernels_(kernels) {}

  /// As Workbench::compare.
  Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                               const std::vector<CompareOrder>& orders);

  /// As Workbench::agree, with the tolerances without a scale. Every other tolerance is at least as wide. Rationale: most outputs
  /// of honest submissions are within these, and only the others need sums and samples of the tensors on the host.
  Result<std::vector<bool>> agree(const std::vector<CompareGroup>& groups);

 private:
  Item item_of(const Arena& got, const Arena& expected, const CompareOrder& order,
               std::uint64_t sums) const;
  Result<std::vector<Held>> held_of(const std::vector<CompareOrder>& orders,
                                    std::vector<Item>& items);
  Status place(const Arena& got, const Arena& expected, const CompareOrder& o, const Item& item,
               const Tolerance& t, std::uint32_t at, Mismatch& mismatch);

  DeviceKernels& kernels_;
  std::unique_ptr<Arena> sums_, samples_;
};

}  // namespace hone
