// Judgement: what a judge found about one submission.
#pragma once

#include <string>

#include "judge/runner.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Whose code a round ran that did not end well. `kNone`: the judge's own, or no round failed. `kKeptProcess`: a kept process
/// that failed the known answer; nothing of the submission was run.
enum class Culprit { kNone, kSubmission, kBaseline, kReference, kKeptProcess };

/// The judge's result. The host adds signals, compiler output and times.
struct Judgement {
  Ending ending = Ending::kDone;
  Culprit culprit = Culprit::kNone;
  std::string where;  ///< "a check of shape n=1000"
  std::string message;
  Verdict verdict;  ///< of a submission that ended every round
};

}  // namespace hone
