// Plan: kernels, launches and scratch memory of device code. A source declares them in lines that begin with
// "// hone:". docs/plans.md has the grammar.
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

/// One argument of a launch, as it is written.
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
  int line = 0;  ///< line of the source; 0: the default plan
};

struct PlanScratch {
  std::string name, bytes;
  int line = 0;
};

struct Plan {
  std::vector<PlanScratch> scratch;
  std::vector<PlanLaunch> launches;
};

/// The plan of `form` in a source: the lines after "// hone: plan FORM", and for `first_form` also the lines
/// before any such line. Without a launch, the source has the default plan: one launch of kernel `entry` with
/// the task's arguments, and a thread for each element of the first output. An error starts with
/// "LINE:COLUMN: error: ".
Result<Plan> parse_plan(std::string_view source, const Task& task, const std::string& entry,
                        std::string_view form = "", bool first_form = true);

/// The plan of a function on the host: one call with the task's arguments, without a grid.
Plan host_plan(const Task& task, const std::string& entry);

/// Limits of a device for launches.
struct PlanLimits {
  std::int64_t grid[3] = {2147483647, 65535, 65535};
  std::int64_t block[3] = {1024, 1024, 64};
  std::int64_t block_threads = 1024;
  std::int64_t shared_bytes = 227 << 10;
  std::int64_t cluster = 8;  ///< blocks in a cluster; 0: the device has no clusters
  std::int64_t scratch_bytes = std::int64_t{8} << 30;
};

/// A kernel and the kinds of its arguments (hone_argument_kind).
struct PlanKernel {
  std::string name;
  std::vector<std::uint32_t> kinds;
  bool operator==(const PlanKernel&) const = default;
};

/// One launch for one shape. Each argument is one of three: argument number `slot` of the call; if `slot` is
/// negative, scratch buffer number `scratch`; else the bits of `value`.
struct ReadyArgument {
  int slot = -1, scratch = -1;
  std::uint64_t value = 0;
};
struct ReadyLaunch {
  std::size_t kernel = 0;  ///< index into the list of plan_kernels()
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<ReadyArgument> arguments;
};
struct ReadyPlan {
  std::vector<std::uint64_t> scratch_bytes;
  std::vector<ReadyLaunch> launches;
};

/// The kernels of these plans, without duplicates.
Result<std::vector<PlanKernel>> plan_kernels(const Task& task,
                                             const std::vector<const Plan*>& plans);
/// Evaluates a plan for a shape. If a launch exceeds a limit, invalid_argument names it. `kernels`: the
/// result of plan_kernels() for a list that contains this plan.
Result<ReadyPlan> ready_plan(const Task& task, const Plan& plan,
                             const std::vector<PlanKernel>& kernels, const Dims& dims,
                             const PlanLimits& limits);

/// The kinds of the task's arguments (hone_argument_kind), in order.
std::vector<std::uint32_t> argument_kinds(const Task& task);

/// Encoding for messages between trusted processes.
Value plan_to_value(const Plan& plan);
Result<Plan> plan_from_value(const Value& value);

}  // namespace hone
