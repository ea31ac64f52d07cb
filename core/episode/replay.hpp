// Replay: the submissions of a recorded episode, judged again and compared with what was said then.
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

/// A verdict as it was recorded, maybe by a later version of hone.
struct RecordedVerdict {
  Value value;  ///< as it was sent
  std::string outcome, reason;
  std::optional<Verdict> known;  ///< none: this version does not know its outcome
};

/// One turn, then and now.
struct ReplayTurn {
  std::int64_t turn = 0;
  std::optional<RecordedVerdict> then;  ///< none: it was not scored
  std::optional<double> reward_then;
  std::optional<Submission> submission;  ///< none: there is nothing to evaluate
  /// An error: it could not be judged now.
  Result<Verdict> now = unavailable("not evaluated");
  std::optional<double> reward_now;
  /// What differs and why, a line each; empty: nothing that matters.
  std::vector<std::string> differences;
};

/// Takes the turns apart as their steps did, with the secret seeds of then, so that inputs and
/// hidden shapes are the same. What needs no evaluation has its verdict already.
/// failed_precondition where the task is no longer what it was.
Result<std::vector<ReplayTurn>> plan_replay(const StoredEpisode& stored,
                                            const Environment& environment, const Catalog& tasks);

/// Once every turn has its verdict of now: rewards them, and says what differs. Outcomes must be
/// equal; speedups differ where their intervals have no point in common, since no two measurements
/// are alike; the reward of the recorded verdicts must come out as it was. `reward`: as recorded,
/// with its configuration, or why it cannot be had.
void compare_replay(const StoredEpisode& stored, const Environment& environment,
                    const Catalog& tasks, const Result<std::unique_ptr<Reward>>& reward,
                    std::vector<ReplayTurn>& turns);

}  // namespace hone
