// Plan: how device code is started: kernels, launches, scratch memory, as a source says it in lines
// that begin with "// hone:". docs/plans.md has the grammar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hone/backend.h"
#include "model/task.hpp"

namespace hone {

inline constexpr std::size_t kPlanLaunchesMax = 16;
inline constexpr std::size_t kPlanKernelsMax = 16;
inline constexpr std::size_t kPlanScratchMax = 8;

/// One argument of a launch as it is written.
struct PlanArgument {
  enum class Kind { kName, kI32, kI64, kF32, kF64 };
  Kind kind = Kind::kName;
  std::string text;  ///< a name; an integer expression; or a number
};

struct PlanLaunch {
  std::string kernel;                             ///< "scale", or "scale<float, 4>"
  std::vector<std::string> grid, block, cluster;  ///< up to three expressions; no cluster: none
  std::string shared = "0";                       ///< dynamic shared memory, bytes
  bool cooperative = false;
  std::vector<PlanArgument> arguments;
  int line = 0;  ///< of the source; 0: by default
};

struct PlanScratch {
  std::string name, bytes;
  int line = 0;
};

struct Plan {
  std::vector<PlanScratch> scratch;
  std::vector<PlanLaunch> launches;
};

/// The plan of `form` in a source: its lines after "// hone: plan FORM", and for `first_form` also
/// those before any such line. A source that says no launch for it has the default plan: one launch
/// of kernel `entry` with the task's arguments, a thread per element of the first output. An error
/// starts with "LINE:COLUMN: error: ".
Result<Plan> parse_plan(std::string_view source, const Task& task, const std::string& entry,
                        std::string_view form = "", bool first_form = true);

/// A plan of a function of the host's: one call with the task's arguments, no grid.
Plan host_plan(const Task& task, const std::string& entry);

/// What a device can start.
struct PlanLimits {
  std::int64_t grid[3] = {2147483647, 65535, 65535};
  std::int64_t block[3] = {1024, 1024, 64};
  std::int64_t block_threads = 1024;
  std::int64_t shared_bytes = 227 << 10;
  std::int64_t cluster = 8;  ///< blocks; 0: the device has none
  std::int64_t scratch_bytes = std::int64_t{8} << 30;
};

/// A kernel and the kinds of its arguments (hone_argument_kind).
struct PlanKernel {
  std::string name;
  std::vector<std::uint32_t> kinds;
  bool operator==(const PlanKernel&) const = default;
};

/// One launch for one shape. An argument is the task's argument number `slot` of a call, or, where
/// that is negative, scratch memory number `scratch`, or else the bits of `value`.
struct ReadyArgument {
  int slot = -1, scratch = -1;
  std::uint64_t value = 0;
};
struct ReadyLaunch {
  std::size_t kernel = 0;  ///< of plan_kernels
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<ReadyArgument> arguments;
};
struct ReadyPlan {
  std::vector<std::uint64_t> scratch_bytes;
  std::vector<ReadyLaunch> launches;
};

/// The kernels of these plans, each once.
Result<std::vector<PlanKernel>> plan_kernels(const Task& task,
                                             const std::vector<const Plan*>& plans);
/// A plan at a shape: what it says must be within the limits, else invalid_argument names the
/// launch. `kernels`: of plan_kernels, from a list with this plan in it.
Result<ReadyPlan> ready_plan(const Task& task, const Plan& plan,
                             const std::vector<PlanKernel>& kernels, const Dims& dims,
                             const PlanLimits& limits);

/// The kinds of the task's arguments (hone_argument_kind), in their order.
std::vector<std::uint32_t> argument_kinds(const Task& task);

/// For messages between processes that trust each other.
Value plan_to_value(const Plan& plan);
Result<Plan> plan_from_value(const Value& value);

}  // namespace hone
