// Checker: whether a submission is correct, without a clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/checking/answer_checker.hpp"
#include "judge/checking/prepared_round.hpp"
#include "judge/session_input.hpp"
#include "judge_protocol/judgement.hpp"
#include "model/work.hpp"

namespace hone {

/// Runs the trials of a step: prepares inputs while the submission is frozen, runs a call of each, and compares. One thread.
class Checker {
 public:
  Checker(const SessionInput& input, const AnswerChecker& answers);

  /// Checks all trials.
  Judgement check_all();
  /// The work of the call that was traced, where one was.
  const std::optional<Work>& work() const { return work_; }

 private:
  Result<std::vector<PreparedRound>> prepare(const std::vector<Trial>& trials, std::size_t from);
  Judgement check(std::vector<PreparedRound>& prepared);
  Judgement run_check(const PreparedRound& prepared);
  Judgement trace(const PreparedRound& prepared);
  Round one_call(Order order, const Dims& dims);
  Judgement expect_as_seen(const PreparedRound& prepared);

  const SessionInput& input_;
  const AnswerChecker& answers_;
  const bool on_host_;  ///< arenas are this process' memory, and rounds end frozen
  std::optional<Work> work_;
  double call_seconds_ = 0;  ///< of the last checked call
  bool has_called_ = false;
};

}  // namespace hone
