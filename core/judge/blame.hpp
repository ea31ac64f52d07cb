// Makers of judgements: a failed round becomes a judgement with its culprit.
#pragma once

#include <string>

#include "judge/input_set.hpp"
#include "judge/layout.hpp"
#include "judge/runner.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

// Limit of the reference and the baseline, for each call. A longer one is a mistake in the task.
inline constexpr double kReferenceSeconds = 60;

/// A fault of hone or the machine. For resource_exhausted the ending is kOutOfMemory, of the judge itself: other processes may
/// have the memory.
Judgement fault(const Error& error);
/// A round that failed: of `culprit`, in `where`. A fault keeps the culprit, because the culprit may have provoked it.
Judgement blame(const Round& round, Culprit culprit, const Where& where);
/// A freeze that was not confirmed: the process has ended or was starved, or it is a fault.
Judgement freeze_failure(const Error& error, Culprit culprit, const Where& where);
/// Gives the runner its orders for a round over the set. A plan that the device cannot start is the culprit's failure.
Judgement order(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
                std::uint64_t scratch_at, Culprit culprit, const Where& where);
/// As order, with the set's inputs loaded first, and scratch memory behind them.
Judgement load(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
               Culprit culprit, const Where& where);
/// The outcome `cheated`: a measurement that nothing else explains.
Judgement cheated(std::string reason);
/// The outcome `wrong`, stage "check".
Judgement wrong(std::string reason);
/// The fault of a device that cannot be measured, because other processes use it.
Judgement busy_device();
/// `correct`, as far as it has come.
Judgement correct_so_far();
bool passed(const Judgement& judgement);

}  // namespace hone
