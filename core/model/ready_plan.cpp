// Evaluates a plan for a shape, and checks its numbers against the device's limits.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "model/fields.hpp"
#include "model/plan.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kScratchAlignment = 256;

std::uint32_t argument_kind(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return HONE_ARGUMENT_F32;
    case DType::kF64:
      return HONE_ARGUMENT_F64;
    case DType::kI64:
      return HONE_ARGUMENT_I64;
    default:
      return HONE_ARGUMENT_I32;
  }
}

int slot_of(const Task& task, const std::string& name) {
  const auto found = std::find(task.arguments.begin(), task.arguments.end(), name);
  return found == task.arguments.end() ? -1 : static_cast<int>(found - task.arguments.begin());
}

int scratch_of(const Plan& plan, const std::string& name) {
  for (std::size_t i = 0; i < plan.scratch.size(); ++i) {
    if (plan.scratch[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

/// The name of a dimension stands for its value, as in any expression.
std::uint32_t kind_of(const Task& task, const Plan& plan, const PlanArgument& argument,
                      const std::vector<std::uint32_t>& kinds) {
  switch (argument.kind) {
    case PlanArgument::Kind::kI32:
      return HONE_ARGUMENT_I32;
    case PlanArgument::Kind::kI64:
      return HONE_ARGUMENT_I64;
    case PlanArgument::Kind::kF32:
      return HONE_ARGUMENT_F32;
    case PlanArgument::Kind::kF64:
      return HONE_ARGUMENT_F64;
    case PlanArgument::Kind::kName:
      break;
  }
  if (const int slot = slot_of(task, argument.text); slot >= 0)
    return kinds[static_cast<std::size_t>(slot)];
  return scratch_of(plan, argument.text) >= 0 ? HONE_ARGUMENT_BUFFER : HONE_ARGUMENT_I64;
}

PlanKernel kernel_of(const Task& task, const Plan& plan, const PlanLaunch& launch) {
  const std::vector<std::uint32_t> kinds = argument_kinds(task);
  PlanKernel kernel{launch.kernel, {}};
  for (const PlanArgument& argument : launch.arguments)
    kernel.kinds.push_back(kind_of(task, plan, argument, kinds));
  return kernel;
}

std::string name_of(const PlanLaunch& launch) {
  return "launch of " + launch.kernel +
         (launch.line > 0 ? " (line " + std::to_string(launch.line) + ")" : "");
}

Status fill_extents(const std::vector<std::string>& texts, const Dims& dims,
                    const std::int64_t* limits, const std::string& what, std::uint32_t* out) {
  for (std::size_t axis = 0; axis < 3 && !texts.empty(); ++axis) {
    out[axis] = 1;
    if (axis >= texts.size()) continue;
    HONE_ASSIGN(const std::int64_t value, evaluate_expression(texts[axis], dims));
    const std::string name = what + " " + std::string(1, static_cast<char>('x' + axis));
    if (value < 1 || value > limits[axis]) {
      return invalid_argument(name + " is " + std::to_string(value) + ", expected 1 to " +
                              std::to_string(limits[axis]));
    }
    out[axis] = static_cast<std::uint32_t>(value);
  }
  return {};
}

Result<ReadyArgument> ready_argument(const Task& task, const Plan& plan,
                                     const PlanArgument& argument, std::uint32_t kind,
                                     const Dims& dims) {
  ReadyArgument ready;
  if (argument.kind == PlanArgument::Kind::kName) {
    ready.slot = slot_of(task, argument.text);
    if (ready.slot >= 0) return ready;
    ready.scratch = scratch_of(plan, argument.text);
    if (ready.scratch >= 0) return ready;
  }
  if (kind == HONE_ARGUMENT_F32 || kind == HONE_ARGUMENT_F64) {
    double number = 0;
    const char* end = argument.text.data() + argument.text.size();
    if (std::from_chars(argument.text.data(), end, number).ptr != end)
      return invalid_argument("argument '" + argument.text +
                              "' is not a number; :f32 and :f64 take a number such as 0.5");
    const auto single = static_cast<float>(number);
    if (kind == HONE_ARGUMENT_F32) std::memcpy(&ready.value, &single, sizeof single);
    if (kind == HONE_ARGUMENT_F64) std::memcpy(&ready.value, &number, sizeof number);
    return ready;
  }
  HONE_ASSIGN(const std::int64_t value, evaluate_expression(argument.text, dims));
  if (kind == HONE_ARGUMENT_I32 && value != static_cast<std::int32_t>(value)) {
    return invalid_argument("argument '" + argument.text + "' is " + std::to_string(value) +
                            ", out of range for i32");
  }
  std::memcpy(&ready.value, &value, sizeof value);
  return ready;
}

Status check_threads(const ReadyLaunch& ready, const PlanLimits& limits) {
  const std::int64_t threads = std::int64_t{ready.block[0]} * ready.block[1] * ready.block[2];
  if (threads > limits.block_threads) {
    return invalid_argument("a block of " + std::to_string(threads) +
                            " threads, expected at most " + std::to_string(limits.block_threads));
  }
  if (ready.cluster[0] == 0) return {};
  const std::int64_t blocks = std::int64_t{ready.cluster[0]} * ready.cluster[1] * ready.cluster[2];
  if (blocks > limits.cluster) {
    return invalid_argument("a cluster of " + std::to_string(blocks) +
                            " blocks, expected at most " + std::to_string(limits.cluster));
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (ready.grid[axis] % ready.cluster[axis] != 0)
      return invalid_argument("the grid is not a multiple of the cluster");
  }
  return {};
}

Result<ReadyLaunch> ready_launch(const Task& task, const Plan& plan, const PlanLaunch& launch,
                                 const std::vector<PlanKernel>& kernels, const Dims& dims,
                                 const PlanLimits& limits) {
  ReadyLaunch ready;
  const PlanKernel kernel = kernel_of(task, plan, launch);
  const auto found = std::find(kernels.begin(), kernels.end(), kernel);
  if (found == kernels.end()) return internal_error("a kernel that is not in the list");
  ready.kernel = static_cast<std::size_t>(found - kernels.begin());
  const std::int64_t clusters[3] = {limits.cluster, limits.cluster, limits.cluster};
  HONE_TRY(fill_extents(launch.grid, dims, limits.grid, "grid", ready.grid));
  HONE_TRY(fill_extents(launch.block, dims, limits.block, "block", ready.block));
  HONE_TRY(fill_extents(launch.cluster, dims, clusters, "cluster", ready.cluster));
  HONE_TRY(check_threads(ready, limits));
  HONE_ASSIGN(const std::int64_t shared, evaluate_expression(launch.shared, dims));
  if (shared < 0 || shared > limits.shared_bytes) {
    return invalid_argument("shared memory of " + std::to_string(shared) +
                            " bytes, expected at most " + std::to_string(limits.shared_bytes));
  }
  ready.shared_bytes = static_cast<std::uint32_t>(shared);
  ready.cooperative = launch.cooperative;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    HONE_ASSIGN(const ReadyArgument argument,
                ready_argument(task, plan, launch.arguments[i], kernel.kinds[i], dims));
    ready.arguments.push_back(argument);
  }
  return ready;
}

}  // namespace

std::vector<std::uint32_t> argument_kinds(const Task& task) {
  std::vector<std::uint32_t> kinds;
  for (const std::string& name : task.arguments) {
    kinds.push_back(HONE_ARGUMENT_BUFFER);
    for (const Scalar& s : task.scalars) {
      if (s.name == name) kinds.back() = argument_kind(s.dtype);
    }
  }
  return kinds;
}

Result<std::vector<PlanKernel>> plan_kernels(const Task& task,
                                             const std::vector<const Plan*>& plans) {
  std::vector<PlanKernel> kernels;
  for (const Plan* plan : plans) {
    for (const PlanLaunch& launch : plan->launches) {
      PlanKernel kernel = kernel_of(task, *plan, launch);
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
        kernels.push_back(std::move(kernel));
    }
  }
  if (kernels.size() > kPlanKernelsMax) {
    return invalid_argument("1:1: error: found " + std::to_string(kernels.size()) +
                            " different kernels, expected at most 16");
  }
  return kernels;
}

Result<ReadyPlan> ready_plan(const Task& task, const Plan& plan,
                             const std::vector<PlanKernel>& kernels, const Dims& dims,
                             const PlanLimits& limits) {
  ReadyPlan ready;
  std::int64_t sum = 0;
  for (const PlanScratch& scratch : plan.scratch) {
    HONE_ASSIGN(const std::int64_t bytes, evaluate_expression(scratch.bytes, dims));
    if (bytes < 0 || bytes > limits.scratch_bytes || (sum += bytes) > limits.scratch_bytes) {
      return invalid_argument("scratch " + scratch.name + " has " + std::to_string(bytes) +
                              " bytes, expected at most " + std::to_string(limits.scratch_bytes) +
                              " in all");
    }
    const auto size = static_cast<std::uint64_t>(bytes);
    ready.scratch_bytes.push_back((size + kScratchAlignment) / kScratchAlignment *
                                  kScratchAlignment);
  }
  for (const PlanLaunch& launch : plan.launches) {
    auto one = ready_launch(task, plan, launch, kernels, dims, limits);
    if (!one) return one.error().in(name_of(launch));
    ready.launches.push_back(std::move(*one));
  }
  return ready;
}

Value plan_to_value(const Plan& plan) {
  Value scratch = Value::array(), launches = Value::array();
  for (const PlanScratch& s : plan.scratch) {
    scratch.push(Value::map({{"name", s.name}, {"bytes", s.bytes}, {"line", s.line}}));
  }
  for (const PlanLaunch& launch : plan.launches) {
    Value arguments = Value::array();
    for (const PlanArgument& a : launch.arguments)
      arguments.push(Value::map({{"kind", static_cast<int>(a.kind)}, {"text", a.text}}));
    launches.push(Value::map({{"kernel", launch.kernel},
                              {"grid", texts_value(launch.grid)},
                              {"block", texts_value(launch.block)},
                              {"cluster", texts_value(launch.cluster)},
                              {"shared", launch.shared},
                              {"cooperative", launch.cooperative},
                              {"arguments", std::move(arguments)},
                              {"line", launch.line}}));
  }
  return Value::map({{"scratch", std::move(scratch)}, {"launches", std::move(launches)}});
}

Result<Plan> plan_from_value(const Value& value) {
  constexpr std::int64_t kLinesMax = 1 << 24;
  Plan plan;
  Fields f(value, "plan");
  if (const Value* list = f.array("scratch")) {
    for (const Value& one : list->as_array()) {
      Fields s(one, "scratch");
      PlanScratch scratch{s.text("name"), s.text("bytes"),
                          static_cast<int>(s.integer("line", 0, kLinesMax))};
      HONE_TRY(s.finish());
      plan.scratch.push_back(std::move(scratch));
    }
  }
  if (const Value* list = f.array("launches")) {
    for (const Value& one : list->as_array()) {
      Fields l(one, "launch");
      PlanLaunch launch;
      launch.kernel = l.text("kernel");
      launch.grid = l.texts_or("grid", {});
      launch.block = l.texts_or("block", {});
      launch.cluster = l.texts_or("cluster", {});
      launch.shared = l.text("shared");
      launch.cooperative = l.flag("cooperative");
      launch.line = static_cast<int>(l.integer("line", 0, kLinesMax));
      if (const Value* arguments = l.array("arguments")) {
        for (const Value& each : arguments->as_array()) {
          Fields a(each, "argument");
          PlanArgument argument;
          argument.kind = static_cast<PlanArgument::Kind>(a.integer("kind", 0, 4));
          argument.text = a.text("text");
          HONE_TRY(a.finish());
          launch.arguments.push_back(std::move(argument));
        }
      }
      HONE_TRY(l.finish());
      plan.launches.push_back(std::move(launch));
    }
  }
  HONE_TRY(f.finish());
  return plan;
}

}  // namespace hone
