// Judging: what becomes of a submission that has been built: a look at it, again where that failed for us, and a second
// one where the first looks too good.
#pragma once

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/device.hpp"
#include "evaluate/job.hpp"
#include "evaluate/second_look.hpp"

namespace hone {

/// [any thread]
class Judging {
 public:
  Judging(const EvaluatorOptions& options, BuildPool& builds)
      : options_(options),
        builds_(builds),
        looks_(options.suspect_speedup, options.suspect_factor) {}

  Result<Verdict> judge(Device& device, Job& job);

 private:
  Result<Verdict> look(Device& device, Job& job, bool second);
  bool is_module_on_device(const Job& job) const;

  const EvaluatorOptions& options_;
  BuildPool& builds_;
  SecondLook looks_;
};

}  // namespace hone
