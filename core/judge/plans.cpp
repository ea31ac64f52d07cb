// Converts plans to the launches that a candidate reads.
#include "judge/plans.hpp"

#include <algorithm>
#include <cstdio>

#include "base/assert.hpp"

namespace hone {

static_assert(kPlanKernelsMax <= kKernelsMax && kPlanLaunchesMax <= kLaunchesMax);

Result<Plans> Plans::make(const Task& task, std::map<Form, Plan> plans, const PlanLimits& limits) {
  Plans made;
  made.task_ = task;
  made.task_.backends.clear();
  made.plans_ = std::move(plans);
  made.limits_ = limits;
  std::vector<const Plan*> all;
  for (const auto& [form, plan] : made.plans_) all.push_back(&plan);
  HONE_ASSIGN(made.kernels_, plan_kernels(task, all));
  for (const PlanKernel& kernel : made.kernels_) {
    if (kernel.name.size() >= kNameMax) {
      return invalid_argument("a kernel's name of " + std::to_string(kernel.name.size()) +
                              " characters, expected fewer than " + std::to_string(kNameMax));
    }
  }
  return made;
}

const Plan& Plans::plan(Form form) const {
  const auto found = plans_.find(form);
  HONE_ASSERT(found != plans_.end());
  return found->second;
}

void Plans::list_kernels(Setup& setup) const {
  setup.kernel_count = static_cast<std::uint32_t>(kernels_.size());
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    KernelName& name = setup.kernels[i];
    std::snprintf(name.name, sizeof name.name, "%s", kernels_[i].name.c_str());
    name.argument_count = static_cast<std::uint32_t>(kernels_[i].kinds.size());
    std::copy(kernels_[i].kinds.begin(), kernels_[i].kinds.end(), name.argument_kinds);
  }
}

Status Plans::order(Form form, const Dims& dims, std::uint64_t scratch_at, Launch* launches,
                    std::uint32_t* count) const {
  HONE_ASSIGN(const ReadyPlan ready, ready_plan(task_, plan(form), kernels_, dims, limits_));
  std::vector<std::uint64_t> scratch;
  for (const std::uint64_t bytes : ready.scratch_bytes) {
    scratch.push_back(scratch_at);
    scratch_at += bytes;
  }
  for (std::size_t i = 0; i < ready.launches.size(); ++i) {
    const ReadyLaunch& from = ready.launches[i];
    Launch& to = launches[i];
    to.kernel = static_cast<std::uint32_t>(from.kernel);
    std::copy_n(from.grid, 3, to.grid);
    std::copy_n(from.block, 3, to.block);
    std::copy_n(from.cluster, 3, to.cluster);
    to.shared_bytes = from.shared_bytes;
    to.flags = from.cooperative ? HONE_LAUNCH_COOPERATIVE : 0;
    to.argument_count = static_cast<std::uint32_t>(from.arguments.size());
    for (std::size_t a = 0; a < from.arguments.size(); ++a) {
      const ReadyArgument& argument = from.arguments[a];
      to.arguments[a].slot =
          argument.slot >= 0 ? static_cast<std::uint32_t>(argument.slot) : kLiteral;
      to.arguments[a].value = argument.scratch >= 0
                                  ? scratch[static_cast<std::size_t>(argument.scratch)]
                                  : argument.value;
    }
  }
  *count = static_cast<std::uint32_t>(ready.launches.size());
  return {};
}

Result<std::uint64_t> Plans::scratch_bytes(const Dims& dims) const {
  std::uint64_t most = 0;
  for (const auto& [form, one] : plans_) {
    HONE_ASSIGN(const ReadyPlan ready, ready_plan(task_, one, kernels_, dims, limits_));
    std::uint64_t bytes = 0;
    for (const std::uint64_t part : ready.scratch_bytes) bytes += part;
    most = std::max(most, bytes);
  }
  return most;
}

PlanLimits limits_of(const Value& facts) {
  PlanLimits limits;
  const Value* said = facts.find("limits");
  if (said == nullptr || !said->is_map()) return limits;
  const auto take = [](const Value* from, std::int64_t& to) {
    if (from != nullptr && from->is_int() && from->as_int() > 0) to = from->as_int();
  };
  for (const char* key : {"grid", "block"}) {
    const Value* list = said->find(key);
    if (list == nullptr || !list->is_array()) continue;
    std::int64_t* to = std::string_view(key) == "grid" ? limits.grid : limits.block;
    for (std::size_t i = 0; i < 3 && i < list->as_array().size(); ++i)
      take(&list->as_array()[i], to[i]);
  }
  take(said->find("block_threads"), limits.block_threads);
  take(said->find("shared_bytes"), limits.shared_bytes);
  if (const Value* cluster = said->find("cluster"); cluster != nullptr && cluster->is_int())
    limits.cluster = cluster->as_int();
  return limits;
}

}  // namespace hone
