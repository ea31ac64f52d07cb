// Makes, loads and checks the inputs of a round.
#include "judge/input_set.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

constexpr std::int64_t kShowExpectedFrom =
    16;  // elements: in a smaller output an expected value would be the answer

std::uint64_t scalar_bits(const Scalar& scalar, const Dims& dims, std::uint64_t seed) {
  std::uint64_t bits = 0;
  if (!scalar.value.empty()) {
    const auto value =
        evaluate_expression(scalar.value, dims);  // was checked when the task was read
    const std::int64_t number = value ? *value : 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  const double number = draw(seed, scalar.low, scalar.high);
  if (scalar.dtype == DType::kF32) {
    const auto single = static_cast<float>(number);
    std::memcpy(&bits, &single, sizeof single);
  } else if (scalar.dtype == DType::kF64) {
    std::memcpy(&bits, &number, sizeof number);
  } else {
    const auto whole = static_cast<std::int64_t>(number);
    std::memcpy(&bits, &whole, sizeof bits);
  }
  return bits;
}

std::vector<std::uint64_t> draw_scalars(const Task& task, const Dims& dims, std::uint64_t seed,
                                        const char* use, std::size_t call) {
  std::vector<std::uint64_t> scalars;
  for (const Scalar& scalar : task.scalars)
    scalars.push_back(scalar_bits(scalar, dims, derive_seed(seed, use + scalar.name, call)));
  return scalars;
}

std::vector<std::int64_t> unflatten(std::int64_t flat, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> index(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    index[i] = flat % axes[i];
    flat /= axes[i];
  }
  return index;
}

std::uint64_t canary_seed(std::uint64_t secret) { return derive_seed(secret, "canary"); }

}  // namespace

Result<InputSet> InputSet::make(const Task& task, const Dims& dims, SetOrder order,
                                Runner& reference, Workbench& workbench, const Defences& defences) {
  HONE_ASSIGN(std::vector<InputSet> sets,
              make_all(task, dims, {std::move(order)}, reference, workbench, defences));
  return std::move(sets.front());
}

Result<std::vector<InputSet>> InputSet::make_all(const Task& task, const Dims& dims,
                                                 std::vector<SetOrder> orders, Runner& reference,
                                                 Workbench& workbench, const Defences& defences) {
  std::vector<InputSet> sets;
  std::vector<std::uint64_t> seeds;
  std::vector<FillOrder> fills;
  for (SetOrder& order : orders) {
    seeds.push_back(order.seed);
    HONE_ASSIGN(InputSet set,
                begin(task, dims, std::move(order), reference, workbench, defences, fills));
    sets.push_back(std::move(set));
  }
  HONE_TRY(workbench.fill(reference.arena(), fills));
  HONE_TRY(let_reference_fill(sets, seeds));
  return sets;
}

Result<InputSet> InputSet::begin(const Task& task, const Dims& dims, SetOrder order,
                                 Runner& reference, Workbench& workbench, const Defences& defences,
                                 std::vector<FillOrder>& fills) {
  const std::size_t calls = order.families.size();
  InputSet set(task, reference, workbench);
  set.dims_ = dims;
  set.families_ = std::move(order.families);
  set.defences_ = defences;
  HONE_ASSIGN(set.exact_, lay_out(task, dims, calls, Placement::kCanaries, true, order.place.at));
  set.scratch_at_ = std::max(order.place.scratch_at, set.exact_.total);
  if (set.exact_.total > reference.arena().bytes())
    return internal_error("the reference's arena: found " +
                          std::to_string(reference.arena().bytes()) + " bytes, expected at least " +
                          std::to_string(set.exact_.total));
  for (std::size_t call = 0; call < calls; ++call) {
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Tensor& tensor = task.tensors[t];
      if (tensor.role == Role::kOut) continue;
      const Region& r = set.exact_.calls[call][t];
      const Generator& how = generator_for(task.families[set.families_[call]], tensor.name);
      if (fills_by_reference(how)) continue;
      fills.push_back(
          {r.payload, tensor.dtype, r.elements, how, derive_seed(order.seed, tensor.name, call)});
    }
    set.scalars_.push_back(draw_scalars(task, dims, order.seed, "scalar/", call));
  }
  return set;
}

std::optional<Form> InputSet::filling_form() const {
  const std::string form = reference_form(*task_, task_->families[families_.front()]);
  if (form.empty()) return std::nullopt;
  return form == "inputs" ? Form::kInputs : Form::kVaried;
}

Status InputSet::let_reference_fill(std::vector<InputSet>& sets,
                                    const std::vector<std::uint64_t>& seeds) {
  // Rationale: a submission is told the scalars of its call, and a seed among them must not be the one
  // that its inputs were made of.
  std::vector<std::pair<InputSet*, std::vector<std::vector<std::uint64_t>>>> told;
  std::vector<Call> calls;
  std::optional<Form> form;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    InputSet& set = sets[i];
    const std::optional<Form> next = set.filling_form();
    if (!next) continue;
    told.emplace_back(&set, set.scalars_);
    for (std::size_t call = 0; call < set.calls(); ++call)
      set.scalars_[call] = draw_scalars(*set.task_, set.dims_, seeds[i], "inputs/", call);
    if (!calls.empty() && (next != form || calls.size() + set.calls() > kCallsMax)) {
      HONE_TRY(fill_round(calls, *form));
      calls.clear();
    }
    form = next;
    for (std::size_t call = 0; call < set.calls(); ++call) calls.push_back({&set, call});
  }
  if (!calls.empty()) HONE_TRY(fill_round(calls, *form));
  for (auto& [set, scalars] : told) set->scalars_ = std::move(scalars);
  return {};
}

Status InputSet::fill_round(const std::vector<Call>& calls, Form form) {
  const InputSet& last = *calls.back().set;
  Runner& reference = *last.reference_;
  Round filled{Ending::kRefused, 0, {}};
  if (Status ready = reference.prepare(form, last.dims_, last.scratch_at_); !ready) {
    filled.message = ready.error().message;
  } else {
    for (std::size_t slot = 0; slot < calls.size(); ++slot) {
      const auto& [set, number] = calls[slot];
      set->point(reference, slot, set->exact_.calls[number], number);
    }
    filled = reference.plain_round(Order::kRun, calls.size(), kReferenceSeconds);
  }
  if (filled.ending == Ending::kOutOfMemory)
    return resource_exhausted("the reference's inputs: " + filled.message);
  if (filled.ending == Ending::kStarved)
    return unavailable("the reference's inputs: " + filled.message);
  if (filled.ending != Ending::kDone)
    return failed_precondition("the reference's inputs: " + filled.message);
  return {};
}

void InputSet::point(Runner& runner, std::size_t slot, const std::vector<Region>& regions,
                     std::size_t call) const {
  auto& values = runner.values(slot);
  for (std::size_t i = 0; i < task_->arguments.size(); ++i) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      if (task_->tensors[t].name == task_->arguments[i]) values[i] = regions[t].payload;
    }
    for (std::size_t s = 0; s < task_->scalars.size(); ++s) {
      if (task_->scalars[s].name == task_->arguments[i]) values[i] = scalars_[call][s];
    }
  }
}

Status InputSet::load(const Runner& runner, const Layout& layout, std::uint64_t secret) const {
  return put(runner, layout, secret, Part::kAll);
}

Status InputSet::give(Runner& runner, const Layout& layout, std::uint64_t secret) const {
  if (!runner.withholds_inputs()) return load(runner, layout, secret);
  HONE_TRY(put(runner, layout, secret, Part::kOutputs));
  return runner.give_inputs([set = *this, &runner, layout, secret] {
    return set.put(runner, layout, secret, Part::kInputs);
  });
}

Status InputSet::put(const Runner& runner, const Layout& layout, std::uint64_t secret,
                     Part part) const {
  std::vector<LoadOrder> loads;
  for (std::size_t call = 0; call < calls(); ++call) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      const bool output = task_->tensors[t].role == Role::kOut;
      if (part == (output ? Part::kInputs : Part::kOutputs)) continue;
      LoadOrder load;
      load.region = layout.calls[call][t];
      load.master = exact_.calls[call][t].payload;
      if (output) {
        load.kind =
            defences_.holds(Defence::kPoison) ? LoadOrder::Kind::kPoison : LoadOrder::Kind::kLeave;
        load.poison = derive_seed(secret, "poison", call, t);
      }
      loads.push_back(load);
    }
  }
  return workbench_->load(runner.arena(), reference_->arena(), loads, canary_seed(secret));
}

Status InputSet::order(Runner& runner, const Layout& layout, std::uint64_t secret,
                       std::uint64_t scratch_at) const {
  std::vector<std::size_t> order(calls());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (defences_.holds(Defence::kShuffle))
    std::shuffle(order.begin(), order.end(), std::mt19937_64(derive_seed(secret, "order")));
  HONE_TRY(runner.prepare(Form::kEntry, dims_, scratch_at));
  runner.aim(layout, derive_seed(secret, "aim"));
  for (std::size_t slot = 0; slot < calls(); ++slot)
    point(runner, slot, layout.calls[order[slot]], order[slot]);
  return {};
}

Round InputSet::run_reference(Form form, double timeout_s, Order order) const {
  if (Status ready = reference_->prepare(form, dims_, scratch_at_); !ready)
    return {Ending::kRefused, 0, ready.error().message};
  for (std::size_t call = 0; call < calls(); ++call)
    point(*reference_, call, exact_.calls[call], call);
  return reference_->plain_round(order, calls(), timeout_s);
}

Round InputSet::run_exact(double timeout_s) const {
  return run_reference(task_->narrow_answers ? Form::kStrict : Form::kExact, timeout_s);
}

Round InputSet::run_plain(double timeout_s) const { return run_reference(Form::kEntry, timeout_s); }

Round InputSet::run_own(double timeout_s) const {
  return run_reference(task_->narrow_answers ? Form::kEntry : Form::kOwn, timeout_s);
}

Round InputSet::run_answers(double timeout_s) const {
  return task_->tolerance.from_reference ? run_own(timeout_s) : run_exact(timeout_s);
}

Round InputSet::run_report(Form form, double timeout_s, std::string* report) const {
  Round round = run_reference(form, timeout_s, Order::kObserved);
  *report = reference_->observed();
  return round;
}

std::vector<InputSet::Output> InputSet::outputs() const {
  std::vector<Output> all;
  for (std::size_t call = 0; call < calls(); ++call) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      if (task_->tensors[t].role != Role::kIn) all.push_back({call, t});
    }
  }
  return all;
}

CompareOrder InputSet::compare_order(const Output& output, const Layout& layout,
                                     const std::vector<OutputTolerance>& tolerances) const {
  const auto& [call, t] = output;
  const Tensor& tensor = task_->tensors[t];
  const Region& r = layout.calls[call][t];
  const auto axes = extents(tensor, dims_);
  return {r.payload,    exact_.calls[call][t].payload,
          tensor.dtype, form_dtype(tensor, !task_->narrow_answers),
          r.elements,   static_cast<std::uint64_t>(axes->back()),
          tolerances[t]};
}

CompareGroup InputSet::compare_group(const Arena& outputs, const Arena& answers,
                                     const Layout& layout,
                                     const std::vector<OutputTolerance>& tolerances) const {
  CompareGroup group{&outputs, &answers, {}};
  for (const Output& output : this->outputs()) {
    CompareOrder order = compare_order(output, layout, tolerances);
    order.expected = order.got;
    order.expected_dtype = order.dtype;
    group.orders.push_back(std::move(order));
  }
  return group;
}

Result<std::optional<Mismatch>> InputSet::compare(
    const Arena& arena, const Layout& layout,
    const std::vector<OutputTolerance>& tolerances) const {
  const std::vector<Output> all = outputs();
  std::vector<CompareOrder> orders;
  for (const Output& output : all) orders.push_back(compare_order(output, layout, tolerances));
  HONE_ASSIGN(auto found, workbench_->compare(arena, reference_->arena(), orders));
  if (!found) return std::optional<Mismatch>();
  Mismatch mismatch = std::move(found->mismatch);
  const auto& [call, place] = all[found->order];
  const Tensor& tensor = task_->tensors[place];
  mismatch.tensor = tensor.name;
  mismatch.family = task_->families[families_[call]].name;
  mismatch.index = unflatten(mismatch.index[0], *extents(tensor, dims_));
  if (mismatch.total < kShowExpectedFrom) mismatch.expected.reset();
  return std::optional<Mismatch>(std::move(mismatch));
}

Result<Damage> InputSet::damage(const Arena& outputs, const Arena& arena, const Layout& layout,
                                std::uint64_t secret) const {
  std::vector<InspectOrder> orders, of_inputs;  // those in the arena
  std::vector<const Tensor*> tensors, read;
  for (std::size_t call = 0; call < calls(); ++call) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      const Tensor& tensor = task_->tensors[t];
      const bool kept = tensor.role == Role::kIn && !tensor.may_change &&
                        defences_.holds(Defence::kInputsUnchanged);
      const bool copied = tensor.role != Role::kIn || outputs.origin() == 0;
      (copied ? orders : of_inputs)
          .push_back({layout.calls[call][t], exact_.calls[call][t].payload, kept});
      (copied ? tensors : read).push_back(&tensor);
    }
  }
  HONE_ASSIGN(std::vector<Inspected> found,
              workbench_->inspect(outputs, reference_->arena(), orders, canary_seed(secret)));
  if (!of_inputs.empty()) {
    HONE_ASSIGN(const std::vector<Inspected> more,
                workbench_->inspect(arena, reference_->arena(), of_inputs, canary_seed(secret)));
    found.insert(found.end(), more.begin(), more.end());
    tensors.insert(tensors.end(), read.begin(), read.end());
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].canaries_stand && defences_.holds(Defence::kCanaries))
      return Damage{"wrote outside of tensor " + tensors[i]->name, caught::kWroteOutside};
    if (!found[i].unchanged)
      return Damage{"changed the input tensor " + tensors[i]->name, caught::kChangedInputs};
  }
  return Damage{};
}

}  // namespace hone
