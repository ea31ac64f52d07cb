// Trials: the shapes and families of inputs that a step checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/layout.hpp"
#include "judge_protocol/defences.hpp"
#include "judge_protocol/judgement.hpp"
#include "model/task.hpp"

namespace hone {

/// One shape that is checked, with one family of inputs.
struct Trial {
  Dims dims;
  bool hidden = false;
  std::size_t family = 0;
  Placement placement = Placement::kCanaries;
};

/// The trials of a step: each shown shape, each hidden one drawn from the seed, and the timed one; every family on the small
/// ones, one by turns on a large one. `shown_only`: without the hidden shapes.
std::vector<Trial> plan_trials(const Task& task, std::uint64_t seed, const Defences& defences = {},
                               bool shown_only = false);
/// The number of families of inputs that timed calls have: all, or 1 (the first) where the reference makes the inputs.
std::size_t timed_family_count(const Task& task, const Defences& defences);
/// The family of each of `calls` timed calls, from number `first` of a measurement on. All families come equally often, in a
/// secret order, so that a timed call looks like a checked one.
std::vector<std::size_t> timed_families(const Task& task, std::uint64_t seed, std::size_t first,
                                        std::size_t calls, const Defences& defences);
/// "n=1000, m=3" or "a hidden shape".
std::string shape_text(const Trial& trial);
/// A check or an answer of this shape.
Where place_of(Place place, const Trial& trial);

}  // namespace hone
