// Judgement: what a judge found about one submission.
#pragma once

#include <optional>
#include <string>

#include "channel/control.hpp"
#include "judge/runner.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Whose code a round ran that did not end well. `kNone`: the judge's own, or no round failed. `kKeptProcess`: a kept process
/// that failed the known answer; nothing of the submission was run.
enum class Culprit { kNone, kSubmission, kBaseline, kReference, kKeptProcess };

/// The part of an evaluation in which a round failed. `kReferenceError`: the reference finds its own rounding error.
enum class Place {
  kNone,
  kLoading,
  kCheck,
  kMeasurement,
  kCalibration,
  kAnswer,
  kReferenceError,
  kKnownAnswer
};

struct Where {
  Place place = Place::kNone;
  std::string shape = {};  ///< of a check or an answer, for people: "shape n=1000"
  bool hidden = false;     ///< the shape is hidden, and no message may name it
};

/// "loading", "a check of shape n=1000"; empty for Place::kNone.
std::string where_text(const Where& where);
/// " in a check of shape n=1000"; empty for Place::kNone.
std::string in_where(const Where& where);

/// The judge's result. The host adds signals, compiler output and times.
struct Judgement {
  Ending ending = Ending::kDone;
  Culprit culprit = Culprit::kNone;
  Where where = {};
  std::string message;
  Verdict verdict;                             ///< of a submission that ended every round
  std::optional<ExtensionKind> hindered = {};  ///< an extension that the machine may have hindered
};

}  // namespace hone
