// Which shapes and families a step checks, and how they are named.
#include <algorithm>

#include "judge/fill.hpp"
#include "judge/session.hpp"

namespace hone {
namespace {

Dims draw_hidden(const HiddenShape& hidden, std::uint64_t seed, std::size_t number) {
  Dims dims;
  for (const auto& [dim, range] : hidden.ranges) {
    dims[dim] = draw_integer(derive_seed(seed, "hidden/" + dim, number), range.first, range.second);
  }
  return dims;
}

std::int64_t elements(const Task& task, const Dims& dims) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : task.tensors) {
    if (auto count = element_count(tensor, dims)) sum += *count;
  }
  return sum;
}

}  // namespace

std::vector<Trial> plan_trials(const Task& task, std::uint64_t seed, const Defences& defences) {
  std::vector<Trial> trials;
  for (const Dims& dims : task.shown) trials.push_back({dims, false, 0, Placement::kGuards});
  const std::size_t hidden = defences.holds(Defence::kHiddenShapes) ? task.hidden.size() : 0;
  for (std::size_t i = 0; i < hidden; ++i) {
    trials.push_back({draw_hidden(task.hidden[i], seed, i), true, 0, Placement::kGuards});
  }
  trials.push_back({task.timed, false, 0, Placement::kCanaries});
  // Families go round from a secret start; those left over are checked on the smallest shape, where
  // they cost least.
  const std::size_t families = defences.holds(Defence::kFamilies) ? task.families.size() : 1;
  std::size_t next = derive_seed(seed, "families") % families;
  for (Trial& trial : trials) trial.family = next++ % families;
  if (trials.size() < families) {
    const Trial smallest =
        *std::min_element(trials.begin(), trials.end(), [&](const Trial& a, const Trial& b) {
          return elements(task, a.dims) < elements(task, b.dims);
        });
    for (std::size_t i = trials.size(); i < families; ++i) {
      Trial extra = smallest;
      extra.family = next++ % families;
      trials.push_back(extra);
    }
  }
  return trials;
}

std::string shape_text(const Trial& trial) {
  if (trial.hidden) return "a hidden shape";
  std::string text;
  for (const auto& [dim, extent] : trial.dims)
    text += (text.empty() ? "" : ", ") + dim + "=" + std::to_string(extent);
  return text.empty() ? "the only shape" : text;
}

}  // namespace hone
