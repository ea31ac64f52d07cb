// Generates C++ source of a matrix product for a choice.
#pragma once

#include <string>

#include "autotune/space.hpp"
#include "model/task.hpp"

namespace hone::autotune {

/// Whether a task is `c = a · b` of floats with the signature that source_of() writes. An error names the
/// difference.
Status check_product(const Task& task, const std::string& backend);

/// A complete source that exports the task's entry. The same choice and task give the same bytes.
std::string source_of(const Choice& choice, const Task& task);

/// Additions and multiplications of one call at the timed shape.
double flops_of(const Task& task);

}  // namespace hone::autotune
