// Evaluates a plan for each call.
#include "examine/device_calls.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/readable.hpp"

namespace hone {
namespace {

template <typename From>
std::uint64_t bits_of(const From& from) {
  std::uint64_t bits = 0;
  static_assert(sizeof from <= sizeof bits);
  std::memcpy(&bits, &from, sizeof from);
  return bits;
}

/// The bits that a kernel gets for a scalar. A scalar with a random value gets the middle of its range.
Result<std::uint64_t> bits_of_scalar(const Scalar& scalar, const Dims& dims) {
  double value = (scalar.low + scalar.high) / 2;
  if (!scalar.value.empty()) {
    HONE_ASSIGN(const std::int64_t number, evaluate_expression(scalar.value, dims));
    if (!dtype_is_float(scalar.dtype)) return bits_of(number);
    value = static_cast<double>(number);
  }
  if (scalar.dtype == DType::kF32) return bits_of(static_cast<float>(value));
  if (scalar.dtype == DType::kF64) return bits_of(value);
  return bits_of(static_cast<std::int64_t>(value));
}

/// Numbers of three dimensions.
Value list_of(const std::uint32_t (&numbers)[3]) {
  Value list = Value::array();
  for (const std::uint32_t number : numbers) list.push(number);
  return list;
}

/// Whether values depend on the place of their element, so that they cannot repeat.
bool has_order(const Generator& generator) {
  return generator.kind == "ramp" || generator.kind == "offsets";
}

Value buffer_argument(std::size_t buffer) { return Value::map({{"buffer", buffer}}); }
Value value_argument(std::uint64_t bits) {
  return Value::map({{"value", static_cast<std::int64_t>(bits)}});
}

/// Makes the calls one after another.
class CallMaker {
 public:
  /// `elements_max`: of an input; more elements repeat these.
  CallMaker(const Task& task, const FillTensor& fill, DeviceCalls& program,
            std::size_t elements_max)
      : task_(task), fill_(fill), program_(program), elements_max_(elements_max) {}

  std::size_t input_bytes() const { return inputs_; }

  Result<Value> make(const SanitizerCall& call, const ReadyPlan& ready,
                     const std::vector<PlanScratch>& scratch) {
    buffers_ = Value::array();
    program_.buffers.emplace_back();
    HONE_TRY(add_arguments(call));
    const std::size_t first_scratch = program_.buffers.back().size();
    for (const PlanScratch& one : scratch) {
      // Not the size in `ready`, which is rounded up.
      HONE_ASSIGN(const std::int64_t bytes, evaluate_expression(one.bytes, call.dims));
      add_buffer("scratch buffer '" + one.name + "'", static_cast<std::uint64_t>(bytes), {});
    }
    Value launches = Value::array();
    for (const ReadyLaunch& launch : ready.launches) launches.push(value_of(launch, first_scratch));
    program_.calls.push_back(call.name);
    return Value::map({{"buffers", std::move(buffers_)}, {"launches", std::move(launches)}});
  }

 private:
  void add_buffer(std::string name, std::uint64_t bytes, std::string data, bool restore = false) {
    Value buffer = Value::map({{"bytes", bytes}});
    if (!data.empty()) buffer.set("data", Value::bytes(std::move(data)));
    if (restore) buffer.set("restore", true);
    buffers_.push(std::move(buffer));
    program_.buffers.back().push_back({std::move(name), bytes});
  }

  /// One argument for each of the task's, in their order.
  Status add_arguments(const SanitizerCall& call) {
    arguments_.clear();
    for (const std::string& name : task_.arguments) {
      const auto scalar = std::find_if(task_.scalars.begin(), task_.scalars.end(),
                                       [&](const Scalar& one) { return one.name == name; });
      if (scalar != task_.scalars.end()) {
        HONE_ASSIGN(const std::uint64_t bits, bits_of_scalar(*scalar, call.dims));
        arguments_.push_back(value_argument(bits));
        continue;
      }
      const auto tensor = std::find_if(task_.tensors.begin(), task_.tensors.end(),
                                       [&](const Tensor& one) { return one.name == name; });
      if (tensor == task_.tensors.end())
        return internal_error("argument '" + name + "' is neither a scalar nor a tensor");
      HONE_ASSIGN(const std::int64_t count, element_count(*tensor, call.dims));
      std::string data;
      if (tensor->role != Role::kOut) {
        const std::size_t most =
            has_order(generator_for(*call.family, tensor->name)) ? kEveryElement : elements_max_;
        HONE_ASSIGN(data, sanitizer_input(*tensor, call, fill_, inputs_, most));
        inputs_ += data.size();
      }
      arguments_.push_back(buffer_argument(program_.buffers.back().size()));
      add_buffer("tensor '" + name + "'",
                 static_cast<std::uint64_t>(count) * dtype_size(tensor->dtype), std::move(data),
                 tensor->role == Role::kInOut);
    }
    return {};
  }

  Value value_of(const ReadyLaunch& launch, std::size_t first_scratch) const {
    Value arguments = Value::array();
    for (const ReadyArgument& argument : launch.arguments) {
      if (argument.slot >= 0) {
        arguments.push(arguments_.at(static_cast<std::size_t>(argument.slot)));
      } else if (argument.scratch >= 0) {
        arguments.push(buffer_argument(first_scratch + static_cast<std::size_t>(argument.scratch)));
      } else {
        arguments.push(value_argument(argument.value));
      }
    }
    return Value::map({{"kernel", launch.kernel},
                       {"grid", list_of(launch.grid)},
                       {"block", list_of(launch.block)},
                       {"cluster", list_of(launch.cluster)},
                       {"shared_bytes", launch.shared_bytes},
                       {"flags", launch.cooperative ? HONE_LAUNCH_COOPERATIVE : 0u},
                       {"arguments", std::move(arguments)}});
  }

  const Task& task_;
  const FillTensor& fill_;
  DeviceCalls& program_;
  const std::size_t elements_max_;
  Value buffers_;
  std::vector<Value> arguments_;
  std::size_t inputs_ = 0;  ///< bytes of all inputs so far
};

Value value_of_kernels(const std::vector<PlanKernel>& kernels) {
  Value list = Value::array();
  for (const PlanKernel& kernel : kernels) {
    Value kinds = Value::array();
    for (const std::uint32_t kind : kernel.kinds) kinds.push(kind);
    list.push(Value::map({{"name", kernel.name}, {"kinds", std::move(kinds)}}));
  }
  return list;
}

}  // namespace

Result<DeviceCalls> sanitizer_device_calls(const Task& task, const Plan& plan,
                                           const PlanLimits& limits, const FillTensor& fill,
                                           std::size_t bytes_max) {
  HONE_ASSIGN(const SanitizerCalls made, sanitizer_calls(task, bytes_max));
  HONE_ASSIGN(const std::vector<PlanKernel> kernels, plan_kernels(task, {&plan}));
  DeviceCalls program;
  program.left_out = made.left_out;
  CallMaker maker(task, fill, program, kEveryElement);
  Value calls = Value::array();
  for (const SanitizerCall& call : made.calls) {
    HONE_ASSIGN(const ReadyPlan ready, ready_plan(task, plan, kernels, call.dims, limits));
    HONE_ASSIGN(Value value, maker.make(call, ready, plan.scratch));
    calls.push(std::move(value));
  }
  program.request =
      Value::map({{"kernels", value_of_kernels(kernels)}, {"calls", std::move(calls)}});
  return program;
}

Result<DeviceCalls> timed_device_call(const Task& task, const Plan& plan, const PlanLimits& limits,
                                      const FillTensor& fill, std::size_t data_max) {
  constexpr std::size_t kElementsMax = std::size_t{1} << 20;
  const auto family =
      std::find_if(task.families.begin(), task.families.end(),
                   [&](const Family& one) { return reference_form(task, one).empty(); });
  if (family == task.families.end())
    return failed_precondition("the reference makes the inputs of this task");
  HONE_ASSIGN(const std::vector<PlanKernel> kernels, plan_kernels(task, {&plan}));
  HONE_ASSIGN(const ReadyPlan ready, ready_plan(task, plan, kernels, task.timed, limits));
  DeviceCalls program;
  CallMaker maker(task, fill, program, kElementsMax);
  HONE_ASSIGN(Value call,
              maker.make({task.timed, &*family, "the timed call"}, ready, plan.scratch));
  if (maker.input_bytes() > data_max)
    return failed_precondition("the task has too many inputs: their values take " +
                               readable_bytes(static_cast<std::int64_t>(maker.input_bytes())));
  Value calls = Value::array();
  calls.push(std::move(call));
  program.request =
      Value::map({{"kernels", value_of_kernels(kernels)}, {"calls", std::move(calls)}});
  return program;
}

}  // namespace hone
