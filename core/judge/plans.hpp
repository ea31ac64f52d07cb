// Plans: what a runner is given to run of one artifact.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "channel/control.hpp"
#include "judge/runner.hpp"
#include "model/plan.hpp"

namespace hone {

/// The plans of one artifact; copies are cheap enough.
class Plans {
 public:
  Plans() = default;
  /// The plans of an artifact by form: kEntry is always there.
  static Result<Plans> make(const Task& task, std::map<Form, Plan> plans, const PlanLimits& limits);

  /// Writes the kernels that a candidate is to look up.
  void list_kernels(Setup& setup) const;
  /// Writes the launches of one call. invalid_argument names a launch that cannot be.
  Status order(Form form, const Dims& dims, std::uint64_t scratch_at, Launch* launches,
               std::uint32_t* count) const;
  /// Bytes of scratch memory at a shape: the most of its forms.
  Result<std::uint64_t> scratch_bytes(const Dims& dims) const;

 private:
  const Plan& plan(Form form) const;

  Task task_;  ///< without sources
  std::map<Form, Plan> plans_;
  std::vector<PlanKernel> kernels_;
  PlanLimits limits_;
};

/// What a device says in its facts that it can start; a limit of 0 is none that it knows of.
PlanLimits limits_of(const Value& facts);

}  // namespace hone
