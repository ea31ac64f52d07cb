#include "judge/checking/trials.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "judge/fill.hpp"

namespace hone {
namespace {

// Most elements of a shape that is checked with every family: a check of it takes less than a millisecond.
constexpr std::int64_t kSmallElements = 1 << 17;

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

std::vector<Trial> plan_trials(const Task& task, std::uint64_t seed, const Defences& defences,
                               bool shown_only) {
  std::vector<Trial> shapes;
  for (const Dims& dims : task.shown) shapes.push_back({dims, false, 0, Placement::kGuards});
  // The largest first: what is wrong with it tells an author the most.
  std::stable_sort(shapes.begin(), shapes.end(), [&](const Trial& x, const Trial& y) {
    return elements(task, x.dims) > elements(task, y.dims);
  });
  const bool has_hidden = defences.holds(Defence::kHiddenShapes) && !shown_only;
  const std::size_t hidden = has_hidden ? task.hidden.size() : 0;
  for (std::size_t i = 0; i < hidden; ++i) {
    shapes.push_back({draw_hidden(task.hidden[i], seed, i), true, 0, Placement::kGuards});
  }
  shapes.push_back({task.timed, false, 0, Placement::kCanaries});

  // Every family on every shape that is small; on a large one a family by turns, from a secret
  // start, because there a check costs milliseconds. The measurement checks the first family at the
  // timed shape many times over.
  const std::size_t families = defences.holds(Defence::kFamilies) ? task.families.size() : 1;
  std::size_t next = derive_seed(seed, "families") % families;
  std::vector<Trial> trials;
  for (const Trial& shape : shapes) {
    const bool small = elements(task, shape.dims) <= kSmallElements;
    for (std::size_t i = 0; i < (small ? families : 1); ++i) {
      trials.push_back(shape);
      trials.back().family = small ? i : next++ % families;
    }
  }
  return trials;
}

std::size_t timed_family_count(const Task& task, const Defences& defences) {
  const bool mixed = defences.holds(Defence::kMixedFamilies) &&
                     defences.holds(Defence::kFamilies) && reference_forms(task).empty();
  return mixed ? task.families.size() : 1;
}

std::vector<std::size_t> timed_families(const Task& task, std::uint64_t seed, std::size_t first,
                                        std::size_t calls, const Defences& defences) {
  const std::size_t count = timed_family_count(task, defences);
  std::vector<std::size_t> families;
  for (std::size_t at = first; at < first + calls; ++at) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(),
                 std::mt19937_64(derive_seed(seed, "timed families", at / count)));
    families.push_back(order[at % count]);
  }
  return families;
}

std::string shape_text(const Trial& trial) {
  if (trial.hidden) return "a hidden shape";
  std::string text;
  for (const auto& [dim, extent] : trial.dims)
    text += (text.empty() ? "" : ", ") + dim + "=" + std::to_string(extent);
  return text.empty() ? "the only shape" : text;
}

Where place_of(Place place, const Trial& trial) {
  const bool is_named = !trial.hidden && !trial.dims.empty();
  return {place, (is_named ? "shape " : "") + shape_text(trial), trial.hidden};
}

}  // namespace hone
