// Small makers of judgements: whose doing was it that a round did not end well.
#pragma once

#include <string>

#include "judge/input_set.hpp"
#include "judge/layout.hpp"
#include "judge/runner.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

inline constexpr double kReferenceSeconds =
    60;  // a reference that takes longer is a mistake in its task

/// A fault of ours. For resource_exhausted the ending is kOutOfMemory, of the judge's own: others' memory may be the reason.
Judgement fault(const Error& error);
/// A round that did not end: of `culprit`, in `where`. A fault of the judge's own keeps the
/// culprit, for who provoked it.
Judgement blame(const Round& round, Culprit culprit, const Where& where);
/// A freeze that was not confirmed: the process has ended or was starved, or it is a fault.
Judgement frozen_badly(const Error& error, Culprit culprit, const Where& where);
/// Makes the runner's next round the set's. A plan that the device cannot start is `culprit`'s doing.
Judgement order(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
                std::uint64_t scratch_at, Culprit culprit, const Where& where);
/// As order, with the set's inputs loaded first, and scratch memory behind them.
Judgement load(const InputSet& set, Runner& runner, const Layout& layout, std::uint64_t secret,
               Culprit culprit, const Where& where);
/// The outcome `cheated`: a measurement that nothing else explains.
Judgement cheated(std::string reason);
/// The outcome `wrong`, stage "check".
Judgement wrong(std::string reason);
/// `correct`, as far as it has come.
Judgement correct_so_far();
bool passed(const Judgement& judgement);

}  // namespace hone
