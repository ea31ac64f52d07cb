// Replay: evaluates the submissions of a recorded episode again and compares the verdicts with the recorded
// ones.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "evaluate/evaluator.hpp"
#include "journal/records.hpp"
#include "plugin/reward.hpp"

namespace hone {

/// A recorded verdict, perhaps written by a later version of hone.
struct RecordedVerdict {
  Value value;  ///< as it was sent
  std::string outcome, reason;
  std::optional<Verdict> known;  ///< none: this version does not know the outcome
};

/// One turn, as recorded and as evaluated now.
struct ReplayTurn {
  std::int64_t turn = 0;
  std::optional<RecordedVerdict> then;  ///< none: the turn was not scored
  std::optional<double> reward_then;
  std::optional<Submission> submission;  ///< none: there is nothing to evaluate
  /// An error: the evaluation failed.
  Result<Verdict> now = unavailable("not evaluated");
  std::optional<double> reward_now;
  /// Differences and their reasons, one line each; empty: no relevant difference.
  std::vector<std::string> differences;
};

/// Interprets the recorded actions again, with the recorded secret seeds, so that inputs and hidden shapes
/// are the same. Turns that need no evaluation already have their verdict. failed_precondition if the task
/// has changed since.
Result<std::vector<ReplayTurn>> plan_replay(const StoredEpisode& stored,
                                            const Environment& environment, const Catalog& tasks);

/// Scores the new verdicts and lists the differences. Call once every turn has its new verdict. Outcomes must
/// be equal. Speedups differ if their intervals do not overlap. The reward of the recorded verdicts must be
/// the recorded reward. `reward`: the recorded one with its configuration, or the error from opening it.
void compare_replay(const StoredEpisode& stored, const Environment& environment,
                    const Catalog& tasks, const Result<std::unique_ptr<Reward>>& reward,
                    std::vector<ReplayTurn>& turns);

}  // namespace hone
