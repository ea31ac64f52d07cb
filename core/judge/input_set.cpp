// Making, loading and checking the inputs of a round.
#include "judge/input_set.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "judge/compare.hpp"
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

const Generator& generator_for(const Family& family, const std::string& tensor) {
  const auto named = family.tensors.find(tensor);
  return named != family.tensors.end() ? named->second : family.fallback;
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

/// The two canary stretches of a region.
template <typename Visit>
void canaries(const Region& r, Visit visit) {
  visit(r.begin, r.payload);
  visit(r.payload + r.bytes, r.end);
}

}  // namespace

Result<InputSet> InputSet::make(const Task& task, const Dims& dims, std::size_t family,
                                std::size_t calls, std::uint64_t seed, Runner& reference,
                                const Defences& defences) {
  InputSet set(task, reference);
  set.dims_ = dims;
  set.defences_ = defences;
  HONE_ASSIGN(set.exact_, lay_out(task, dims, calls, Placement::kCanaries, true));
  if (set.exact_.total > reference.arena_bytes())
    return internal_error("the reference's arena is too small");
  for (std::size_t call = 0; call < calls; ++call) {
    for (std::size_t t = 0; t < task.tensors.size(); ++t) {
      const Tensor& tensor = task.tensors[t];
      if (tensor.role == Role::kOut) continue;
      const Region& r = set.exact_.calls[call][t];
      fill_tensor(reference.arena() + r.payload, tensor.dtype, r.elements,
                  generator_for(task.families[family], tensor.name),
                  derive_seed(seed, tensor.name, call));
    }
    std::vector<std::uint64_t> scalars;
    for (const Scalar& scalar : task.scalars) {
      scalars.push_back(
          scalar_bits(scalar, dims, derive_seed(seed, "scalar/" + scalar.name, call)));
    }
    set.scalars_.push_back(std::move(scalars));
  }
  return set;
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

void InputSet::load_into(Runner& runner, const Layout& layout, std::uint64_t secret) const {
  char* arena = runner.arena();
  const char* masters = reference_->arena();
  const std::uint64_t canary = canary_seed(secret);
  std::vector<std::size_t> order(calls());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (defences_.holds(Defence::kShuffle))
    std::shuffle(order.begin(), order.end(), std::mt19937_64(derive_seed(secret, "order")));
  for (std::size_t call = 0; call < calls(); ++call) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      const Region& r = layout.calls[call][t];
      canaries(
          r, [&](std::uint64_t from, std::uint64_t to) { write_pattern(arena, from, to, canary); });
      if (task_->tensors[t].role == Role::kOut) {
        if (!defences_.holds(Defence::kPoison)) continue;
        write_pattern(arena, r.payload, r.payload + r.bytes,
                      derive_seed(secret, "poison", call, t));
      } else {
        std::memcpy(arena + r.payload, masters + exact_.calls[call][t].payload, r.bytes);
      }
    }
  }
  for (std::size_t slot = 0; slot < calls(); ++slot)
    point(runner, slot, layout.calls[order[slot]], order[slot]);
}

Round InputSet::run_exact(std::size_t call, double timeout_s) const {
  point(*reference_, 0, exact_.calls[call], call);
  return reference_->plain_round(Order::kRunSecond, 1, timeout_s);
}

Round InputSet::run_plain(std::size_t call, double timeout_s) const {
  point(*reference_, 0, exact_.calls[call], call);
  return reference_->plain_round(Order::kRun, 1, timeout_s);
}

std::optional<Mismatch> InputSet::compare(const Runner& runner, const Layout& layout,
                                          std::size_t call) const {
  for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
    const Tensor& tensor = task_->tensors[t];
    if (tensor.role == Role::kIn) continue;
    const auto axes = extents(tensor, dims_);
    const Region& r = layout.calls[call][t];
    auto mismatch = compare_output(
        runner.arena() + r.payload, reference_->arena() + exact_.calls[call][t].payload,
        tensor.dtype, r.elements, static_cast<std::uint64_t>(axes->back()), task_->tolerance);
    if (!mismatch) continue;
    mismatch->tensor = tensor.name;
    mismatch->index = unflatten(mismatch->index[0], *axes);
    if (mismatch->total < kShowExpectedFrom) mismatch->expected.reset();
    return mismatch;
  }
  return std::nullopt;
}

Damage InputSet::damage(const Runner& runner, const Layout& layout, std::uint64_t secret) const {
  const char* arena = runner.arena();
  const char* masters = reference_->arena();
  const std::uint64_t canary = canary_seed(secret);
  for (std::size_t call = 0; call < calls(); ++call) {
    for (std::size_t t = 0; t < task_->tensors.size(); ++t) {
      const Region& r = layout.calls[call][t];
      const Tensor& tensor = task_->tensors[t];
      bool stands = true;
      canaries(r, [&](std::uint64_t from, std::uint64_t to) {
        stands = stands && pattern_stands(arena, from, to, canary);
      });
      if (!stands && defences_.holds(Defence::kCanaries))
        return {"wrote outside of tensor " + tensor.name, caught::kWroteOutside};
      if (tensor.role != Role::kIn || !defences_.holds(Defence::kInputsUnchanged)) continue;
      if (std::memcmp(arena + r.payload, masters + exact_.calls[call][t].payload, r.bytes) != 0) {
        return {"changed the input tensor " + tensor.name, caught::kChangedInputs};
      }
    }
  }
  return {};
}

}  // namespace hone
