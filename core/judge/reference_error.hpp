// The tolerance that follows from a reference's own error (docs/adr/0021-tolerance-from-the-reference.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/compare.hpp"
#include "judge_protocol/reference_error.hpp"
#include "model/task.hpp"

namespace hone {

/// The larger of both, number by number.
ReferenceError larger(const ReferenceError& x, const ReferenceError& y);

/// One output's: `least` widened so that the reference, and answers of the precision that it allows, are well inside.
OutputTolerance widened(const Tolerance& least, const ReferenceError::Output& error);
/// Of each of the task's tensors; those of inputs are not used. Without an error, or where the task's tolerance is its
/// own, the task's.
std::vector<OutputTolerance> tolerances_of(const Task& task,
                                           const std::optional<ReferenceError>& error);

/// Megabytes that a submission may use on the processor beyond its arena: the task's, and several times what a call of
/// the reference needs and what the task's tensors hold.
std::int64_t memory_granted_mb(const Task& task, const std::optional<ReferenceError>& error);

/// Whether an answer with this error is within the tolerance.
bool is_within(const OutputError& error, const OutputTolerance& tolerance);

}  // namespace hone
