// Workbench: what a judge does with the bytes of arenas. On the processor by loops of its own, on a
// device by kernels of ours in the judge's context.
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

/// One tensor of a round to be put in place, canaries around it.
struct LoadOrder {
  Region region;
  std::uint64_t master = 0;  ///< where in the masters' arena its bytes are; unused with `poison`
  enum class Kind { kCopy, kPoison, kLeave } kind = Kind::kCopy;
  std::uint64_t poison = 0;  ///< seed
};

/// One tensor to be looked at after a round, and what was found.
struct InspectOrder {
  Region region;
  std::uint64_t master = 0;
  bool unchanged = false;  ///< it must be as the master is
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

struct FoundMismatch {
  std::size_t order = 0;
  Mismatch mismatch;
};

/// One thread. Everything is done when a call returns.
class Workbench {
 public:
  virtual ~Workbench() = default;

  virtual Status fill(const Arena& arena, const std::vector<FillOrder>& orders) = 0;
  virtual Status load(const Arena& to, const Arena& masters, const std::vector<LoadOrder>& orders,
                      std::uint64_t canary_seed) = 0;
  virtual Result<std::vector<Inspected>> inspect(const Arena& arena, const Arena& masters,
                                                 const std::vector<InspectOrder>& orders,
                                                 std::uint64_t canary_seed) = 0;
  /// As compare_output (compare.hpp), of each order: the first that does not agree.
  virtual Result<std::optional<FoundMismatch>> compare(const Arena& got, const Arena& expected,
                                                       const std::vector<CompareOrder>& orders) = 0;
  /// What the units that a task grants can load and store in a second, caches included: no
  /// submission is faster.
  virtual double bytes_per_second_max(const Task& task) const = 0;
  /// Of the device that tensors lie on; 0: it has none of its own.
  virtual std::uint64_t memory_bytes() const { return 0; }
  /// Whether heat or power holds the device back now: what is timed then is not what it can do.
  virtual Result<bool> throttled() const = 0;
  /// A copy of [begin, begin + bytes) of an arena, in `into`, which is made where it is null or too small.
  virtual Status snapshot(const Arena& from, std::uint64_t begin, std::uint64_t bytes,
                          std::unique_ptr<Arena>& into) = 0;
  /// Whether the device has this much free memory; true if the backend cannot say, false if the query fails. Rationale: the
  /// judge asks the driver and does not allocate to test: after a large buffer is freed the device is slower for tens of
  /// milliseconds.
  virtual bool has_free([[maybe_unused]] std::uint64_t bytes) { return true; }
  /// Takes one back, for the next that is made.
  virtual void keep_spare([[maybe_unused]] std::unique_ptr<Arena> spare) {}
  /// Gives all of these back.
  virtual void release_spares() {}
  /// Leaves nothing of what is in an arena.
  virtual Status scrub(const Arena& arena) = 0;
  /// How tensors lie where no guard pages are wanted, or there can be none.
  virtual Placement placement() const = 0;
  /// Has the device move memory for so long. Rationale: one that has been idle for some milliseconds is slower, by a
  /// tenth at work of milliseconds and by half at work of microseconds, until it has been busy for about three.
  virtual Status make_busy([[maybe_unused]] double seconds) { return {}; }
  /// Whether nobody else's work is on the device now: work of other contexts takes turns with ours, and copies take of
  /// the memory's speed, so that ours is slower than it has been. Not where it cannot be told.
  virtual bool is_still() { return true; }
  /// What of the device others had while memory was moved for about so long.
  struct Others {
    double share =
        0;  ///< how much longer a move took, by the device's own clock, than the shortest one ever; 0: it has none
    double away_s = 0;  ///< by ours: the device was not with us before
  };
  virtual Result<Others> others_had([[maybe_unused]] double seconds) { return Others{}; }
  /// Moves what lies in the first `bytes` of both arenas out of the caches.
  virtual Status make_cold(const Arena& a, const Arena& b, std::uint64_t bytes) = 0;
};

std::unique_ptr<Workbench> make_host_workbench();
/// `harness`: a descriptor of harness_source() as the backend has built it. `facts`: the device's.
Result<std::unique_ptr<Workbench>> make_device_workbench(const Backend& backend,
                                                         hone_device* device, int harness,
                                                         const Value& facts);
/// The source of the kernels that a device's workbench uses, and their names.
std::string_view harness_source();
std::vector<std::string> harness_kernels();

}  // namespace hone
