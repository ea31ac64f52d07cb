// Recorded plans of untrusted builders: a plan is refused with its reason, or is the same when it is
// written and read again.
#include "fuzz/fuzz.hpp"
#include "hone/recorded_plan_reader.hpp"
#include "hone/recorded_plan_writer.hpp"

namespace hone::fuzz {
namespace {

using recorded::Plan;

void check_place(const Plan& plan, const recorded::Place& place) {
  check(place.memory < plan.memories.size(), "a place is in a memory of the plan");
  check(place.offset <= plan.memories[place.memory].bytes, "a place is within its memory");
}

void check_step(const Plan& plan, const recorded::Step& step) {
  check(step.stream < plan.streams, "a step's stream is one of the plan");
  if (const auto* launch = std::get_if<recorded::Launch>(&step.work)) {
    check(launch->kernel < plan.kernels.size(), "a launch has a kernel of the plan");
    for (const auto& address : launch->addresses) {
      check(address.at + 8 <= launch->parameters.size(), "an address is within the parameters");
      check_place(plan, address.place);
    }
  } else if (const auto* copy = std::get_if<recorded::Copy>(&step.work)) {
    check_place(plan, copy->to);
    check_place(plan, copy->from);
  } else if (const auto* call = std::get_if<recorded::Operator>(&step.work)) {
    for (const auto& tensor : call->tensors) check_place(plan, tensor.place);
  }
}

}  // namespace

void one(std::string_view bytes) {
  try {
    const Plan plan = recorded::read_plan(std::string(recorded::kMagic) + std::string(bytes));
    for (const auto& step : plan.setup) check_step(plan, step);
    for (const auto& step : plan.run) check_step(plan, step);
    const std::string written = recorded::write_plan(plan);
    check(recorded::write_plan(recorded::read_plan(written)) == written,
          "a plan is the same when it is written and read again");
  } catch (const plugin::Failure& failure) {
    check_error({static_cast<Code>(failure.code()), failure.what()}, "recorded plan");
  }
}

}  // namespace hone::fuzz
