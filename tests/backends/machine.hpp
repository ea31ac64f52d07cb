// A machine that runs a task's sources through a backend's table: reference, exact form and baseline.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/tested.hpp"
#include "base/result.hpp"
#include "judge/layout.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"

namespace hone::test {

enum class Form { kReference, kExact, kBaseline };

/// A device with a task's two artifacts. What is run reads inputs that its seed gives, and may write
/// nothing but its outputs.
class Machine {
 public:
  /// Builds and loads; `task`: as the backend has it.
  Machine(const Tested& which, Task task);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Why it cannot run; "" when it can.
  const std::string& trouble() const { return trouble_; }
  const std::string& name() const { return which_.name; }
  const Task& task() const { return task_; }

  /// The outputs, by the tensor's position; in the exact form doubles for floats.
  Result<std::map<std::size_t, std::vector<char>>> run(Form form, const Dims& dims,
                                                       const Family& family, std::uint64_t seed);

 private:
  /// A source, its plans' kernels, and these as they are loaded.
  struct Loaded {
    std::vector<PlanKernel> names;
    hone_artifact* artifact = nullptr;
    std::vector<hone_kernel*> kernels;
  };

  Status start();
  Status load(const Source& source, const std::vector<const Plan*>& plans, Loaded& loaded);
  Result<Plan> plan(const Source& source, const std::string& form, bool first_form) const;
  Status launch(const ReadyLaunch& one, hone_kernel* kernel, hone_buffer* arena,
                const std::vector<Region>& regions, const std::vector<std::uint64_t>& scratch,
                const Dims& dims, std::uint64_t seed) const;
  std::uint64_t argument(const std::string& name, const std::vector<Region>& regions,
                         const Dims& dims, std::uint64_t seed) const;
  const hone_backend_factory& table() const { return *backend_of(which_).factory(); }

  const Tested which_;
  const Task task_;
  std::string trouble_;
  bool host_ = false;  // the device starts no blocks: entries are called with the task's arguments
  PlanLimits limits_;
  hone_device* device_ = nullptr;
  Plan reference_plan_, exact_plan_, baseline_plan_;
  Loaded reference_, baseline_;
};

}  // namespace hone::test
