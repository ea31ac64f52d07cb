// Workbench: operations of a judge on the bytes of arenas: loops on the processor, hone's own kernels in the judge's context on
// a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "judge/arena.hpp"
#include "judge/compare.hpp"
#include "judge/layout.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// One tensor to fill.
struct FillOrder {
  std::uint64_t at = 0;
  DType dtype = DType::kF32;
  std::uint64_t count = 0;
  Generator generator;
  std::uint64_t seed = 0;
};

/// One tensor of a round to be written, with canaries around it.
struct LoadOrder {
  Region region;
  std::uint64_t master = 0;  ///< where in the masters' arena its bytes are; unused with `poison`
  enum class Kind { kCopy, kPoison, kLeave } kind = Kind::kCopy;
  std::uint64_t poison = 0;  ///< seed
};

/// One tensor to be inspected after a round, and the result.
struct InspectOrder {
  Region region;
  std::uint64_t master = 0;
  bool unchanged = false;  ///< it must equal the master
};
struct Inspected {
  bool canaries_stand = true;
  bool unchanged = true;
};

/// Two tensors to compare.
struct CompareOrder {
  std::uint64_t got = 0, expected = 0;
  DType dtype = DType::kF32;  ///< of `got`
  DType expected_dtype =
      DType::kF64;  ///< on the processor: f64 where `dtype` is a float, else `dtype`
  std::uint64_t count = 0;
  std::uint64_t row = 1;  ///< extent of the last axis
  OutputTolerance tolerance;
};

/// The comparisons of one round: tensors in the arena `got` with those in the arena `expected`. It does not own the arenas.
struct CompareGroup {
  const Arena* got;
  const Arena* expected;
  std::vector<CompareOrder> orders;
};

struct FoundMismatch {
  std::size_t order = 0;
  Mismatch mismatch;
};

/// One thread. The work of a call is done when it returns.
class Workbench {
 public:
  virtual ~Workbench() = default;

  virtual Status fill(const Arena& arena, const std::vector<FillOrder>& orders) = 0;
  virtual Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
                      std::uint64_t canary_seed) = 0;
  virtual Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                                 const std::vector<InspectOrder>& orders,
                                                 std::uint64_t canary_seed) = 0;
  /// Compares each order like compare_output (compare.hpp), and returns the first mismatch.
  virtual Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                                       const std::vector<CompareOrder>& orders) = 0;
  /// For each group, true if compare() would find no mismatch. False: undecided, but seldom for a group without a mismatch.
  /// Faster than compare() for each group.
  virtual Result<std::vector<bool>> agree(const std::vector<CompareGroup>& groups) {
    std::vector<bool> agreed;
    for (const CompareGroup& group : groups) {
      HONE_ASSIGN(const auto found, compare(*group.got, *group.expected, group.orders));
      agreed.push_back(!found);
    }
    return agreed;
  }
  /// Upper bound of the bytes that the cores or units of a task can load and store in a second, caches included.
  virtual double bytes_per_second_max(const Task& task) const = 0;
  /// Memory of the device that has the tensors; 0: the device has no memory of its own.
  virtual std::uint64_t memory_bytes() const { return 0; }
  /// Whether heat or power limits the device now.
  virtual Result<bool> throttled() const = 0;
  /// Copies [begin, begin + bytes) of an arena to `into`, which is allocated if it is null or too small.
  virtual Status snapshot(const Arena& from, std::uint64_t begin, std::uint64_t bytes,
                          std::unique_ptr<Arena>& into) = 0;
  /// Allocates `into`, for a later snapshot of that many bytes.
  virtual Status make_room(std::uint64_t bytes, std::unique_ptr<Arena>& into) = 0;
  /// Whether the device has this much free memory; true if the backend cannot say, false if the query fails. Rationale: the
  /// judge asks the driver and does not allocate to test: after a large buffer is freed the device is slower for tens of
  /// milliseconds.
  virtual bool has_free([[maybe_unused]] std::uint64_t bytes) { return true; }
  /// Takes an arena back, for the next one that is needed.
  virtual void keep_spare([[maybe_unused]] std::unique_ptr<Arena> spare) {}
  /// Frees all of these.
  virtual void release_spares() {}
  /// Overwrites an arena.
  virtual Status scrub(const Arena& arena) = 0;
  /// The placement of tensors without guard pages. kDevice: tensors lie on a device with memory of its own.
  virtual Placement placement() const = 0;
  /// Has the device move memory for about this time. Rationale: after an idle time of some milliseconds a device is slower, by a
  /// tenth for work of milliseconds and by half for work of microseconds, until it has been busy for about three milliseconds.
  virtual Status make_busy([[maybe_unused]] double seconds) { return {}; }
  /// Whether no other process has work on the device now. Work of other contexts takes turns with the judge's, and copies take
  /// memory bandwidth, so the judge's own work is slower then. True if the backend cannot tell.
  virtual bool is_still() { return true; }
  struct DeviceContention {
    /// Time of a move of memory, by the device's own clock, relative to the shortest one ever; 0: the device has no clock.
    double slowdown = 0;
    /// Time before the moves in which another context had the device, by the judge's clock.
    double away_s = 0;
  };
  /// Contention on the device while the judge moves memory for about this time.
  virtual Result<DeviceContention> measure_contention([[maybe_unused]] double seconds) {
    return DeviceContention{};
  }
  /// Evicts the first `bytes` of both arenas from the caches.
  virtual Status make_cold(const Arena& a, const Arena& b, std::uint64_t bytes) = 0;
};

std::unique_ptr<Workbench> make_host_workbench();
/// `harness`: a descriptor of harness_source() as the backend has built it. `facts`: the device's.
Result<std::unique_ptr<Workbench>> make_device_workbench(const Backend& backend,
                                                         hone_device* device, int harness,
                                                         const Value& facts);
/// The source of the kernels of a device's workbench, and their names.
std::string_view harness_source();
std::vector<std::string> harness_kernels();

}  // namespace hone
