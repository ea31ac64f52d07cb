// InputSet: the inputs of one round. Their masters lie in the reference's arena, which no submission can read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/layout.hpp"
#include "judge/runner.hpp"
#include "judge/workbench.hpp"
#include "judge_protocol/defences.hpp"
#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Damage that a round did; no words: none.
struct Damage {
  std::string words;
  std::string caught;  ///< its class: model/caught.hpp
};

/// Where a set lies in the reference's arena.
struct SetPlace {
  std::uint64_t at = 0;          ///< its first byte, whole pages
  std::uint64_t scratch_at = 0;  ///< the reference's scratch memory; 0: behind the set
};

/// What a set is made from.
struct SetOrder {
  /// Of each call, by their number in the task. Where the reference makes the inputs, all calls have the same family.
  std::vector<std::size_t> families;
  std::uint64_t seed = 0;
  SetPlace place = {};
};

/// `calls` different inputs of one shape. One thread. The masters last until the next set is made in
/// their place.
class InputSet {
 public:
  /// Fills the masters in the reference's arena; the reference must be idle.
  static Result<InputSet> make(const Task& task, const Dims& dims, SetOrder order,
                               Runner& reference, Workbench& workbench,
                               const Defences& defences = {});
  /// Makes several sets together, which is faster. Their places must not overlap.
  static Result<std::vector<InputSet>> make_all(const Task& task, const Dims& dims,
                                                std::vector<SetOrder> orders, Runner& reference,
                                                Workbench& workbench,
                                                const Defences& defences = {});

  /// Copies the inputs into a runner's arena, poisons its outputs and writes canaries. The runner
  /// must not be running anything.
  Status load(const Runner& runner, const Layout& layout, std::uint64_t secret) const;
  /// The same for timed rounds: a runner that withholds its inputs gets them within each.
  Status give(Runner& runner, const Layout& layout, std::uint64_t secret) const;
  /// Makes the runner's next round one of these calls, in a secret order. invalid_argument: its plan
  /// asks for what the device cannot start.
  Status order(Runner& runner, const Layout& layout, std::uint64_t secret,
               std::uint64_t scratch_at) const;

  /// Runs the reference's exact form on every call; where its answers are narrow, its plain form without TF32.
  Round run_exact(double timeout_s) const;
  /// Runs the reference's plain form (the entry's own types), over the exact form's outputs.
  Round run_plain(double timeout_s) const;
  /// Runs the reference's plain form, over the exact form's outputs and as doubles, unless its answers are narrow.
  Round run_own(double timeout_s) const;
  /// Computes the first answer to compare with: run_own(), the fastest, if the tolerance follows from the reference's error,
  /// else run_exact().
  Round run_answers(double timeout_s) const;
  /// Runs a form of the reference that reports; `report` gets its JSON.
  Round run_report(Form form, double timeout_s, std::string* report) const;
  /// The first output of `runner` outside its tolerance, after run_exact() or run_own(), with its tensor's and its family's
  /// name. `tolerances`: of each of the task's tensors.
  Result<std::optional<Mismatch>> compare(const Arena& arena, const Layout& layout,
                                          const std::vector<OutputTolerance>& tolerances) const;
  /// Orders that compare outputs with answers to the same inputs, in the task's own types. Both arenas have this layout.
  CompareGroup compare_group(const Arena& outputs, const Arena& answers, const Layout& layout,
                             const std::vector<OutputTolerance>& tolerances) const;
  /// Whether canaries are intact after a round, and inputs unchanged unless the task lets a submission change them. `outputs`: the
  /// arena of the round, or a copy of its outputs; inputs are then inspected in `arena`.
  Result<Damage> damage(const Arena& outputs, const Arena& arena, const Layout& layout,
                        std::uint64_t secret) const;

  std::size_t calls() const { return exact_.calls.size(); }
  const Layout& exact_layout() const { return exact_; }
  const Dims& dims() const { return dims_; }

 private:
  InputSet(const Task& task, Runner& reference, Workbench& workbench)
      : task_(&task), reference_(&reference), workbench_(&workbench) {}
  enum class Part { kAll, kInputs, kOutputs };
  struct Output {
    std::size_t call, tensor;
  };
  /// Lays out the set and draws its scalars; adds what the workbench has to fill to `fills`.
  static Result<InputSet> begin(const Task& task, const Dims& dims, SetOrder order,
                                Runner& reference, Workbench& workbench, const Defences& defences,
                                std::vector<FillOrder>& fills);
  /// The reference makes the inputs of these sets, up to kCallsMax calls in each round.
  static Status let_reference_fill(std::vector<InputSet>& sets,
                                   const std::vector<std::uint64_t>& seeds);
  /// A call of a set.
  struct Call {
    const InputSet* set;
    std::size_t number;
  };
  /// The reference makes the inputs of these calls in one round.
  static Status fill_round(const std::vector<Call>& calls, Form form);
  /// The form of the reference that makes the inputs; nothing if the workbench makes them.
  std::optional<Form> filling_form() const;
  std::vector<Output> outputs() const;
  /// Compares an output with the reference's answer.
  CompareOrder compare_order(const Output& output, const Layout& layout,
                             const std::vector<OutputTolerance>& tolerances) const;
  Status put(const Runner& runner, const Layout& layout, std::uint64_t secret, Part part) const;
  Round run_reference(Form form, double timeout_s, Order order = Order::kRun) const;
  void point(Runner& runner, std::size_t slot, const std::vector<Region>& regions,
             std::size_t call) const;

  const Task* task_;
  Runner* reference_;
  Workbench* workbench_;
  Dims dims_;
  std::vector<std::size_t> families_;  ///< of each call
  Layout exact_;
  std::uint64_t scratch_at_ = 0;
  Defences defences_;
  std::vector<std::vector<std::uint64_t>> scalars_;  ///< [call][scalar] bits
};

}  // namespace hone
