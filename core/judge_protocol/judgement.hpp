// Judgement: the judge's findings about one submission.
#pragma once

#include <optional>
#include <string>

#include "base/enum_names.hpp"
#include "channel/control.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Why a round did not end as it should. `kFault` and `kStarved` are faults; the candidate caused all others.
/// `kMismatch`: outputs of another form than the task's, in the candidate's words. `kStarved`: the machine gave the
/// candidate too little time on its cores. `kBrokenReport`: a report that cannot be read, or was not due.
/// `kNotLaunchable`: a launch or scratch memory of its plan that the device cannot have.
enum class Ending {
  kDone,
  kDied,
  kTimedOut,
  kOutOfMemory,
  kException,
  kRefused,
  kFault,
  kMismatch,
  kStarved,
  kBrokenReport,
  kNotLaunchable
};

template <>
struct EnumNames<Ending> {
  static constexpr std::string_view kKind = "ending";
  static constexpr std::string_view kNames[] = {
      "done",  "died",     "timed_out", "out_of_memory", "exception",     "refused",
      "fault", "mismatch", "starved",   "broken_report", "not_launchable"};
  static_assert(are_complete(kNames, Ending::kNotLaunchable));
};

/// Whose code a round ran that did not end well. `kNone`: the judge's own, or no round failed. `kKeptProcess`: a kept process
/// that failed the known answer; nothing of the submission was run.
enum class Culprit { kNone, kSubmission, kBaseline, kReference, kKeptProcess };

template <>
struct EnumNames<Culprit> {
  static constexpr std::string_view kKind = "culprit";
  static constexpr std::string_view kNames[] = {"none", "submission", "baseline", "reference",
                                                "kept process"};
  static_assert(are_complete(kNames, Culprit::kKeptProcess));
};

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

template <>
struct EnumNames<Place> {
  static constexpr std::string_view kKind = "place";
  static constexpr std::string_view kNames[] = {
      "none",        "loading", "check",           "measurement",
      "calibration", "answer",  "reference_error", "known_answer"};
  static_assert(are_complete(kNames, Place::kKnownAnswer));
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

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("ending", self.ending);
    visit("culprit", self.culprit);
    visit("place", self.where.place);
    visit("shape", self.where.shape);
    visit("hidden", self.where.hidden);
    visit("message", self.message);
    visit("verdict", self.verdict);
    visit("hindered", self.hindered);
  }
};

}  // namespace hone
