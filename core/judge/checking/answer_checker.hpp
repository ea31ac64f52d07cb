// AnswerChecker: whether the outputs of rounds are right.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "judge/checking/prepared_round.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// Compares outputs with the reference's answers, and looks for writes outside of them. One thread.
class AnswerChecker {
 public:
  explicit AnswerChecker(const SessionInput& input);

  /// `make_room` is called before the reference computes an answer, which may take much memory.
  void before_answers(std::function<Judgement(const Layout&)> make_room) {
    make_room_ = std::move(make_room);
  }
  /// Has the reference answer these inputs, once.
  Judgement answer(PreparedRound& prepared) const;
  /// Checks rounds that are over. `outputs`: the submission's arena, or a copy of it.
  Judgement check(std::vector<PreparedRound>& prepared, const Arena& outputs) const;
  /// The same for a timed round: inspect_timed() and compare_timed().
  Judgement check_timed(PreparedRound timed, const Arena& outputs) const;
  /// Checks that canaries and inputs are intact after a timed round, before the next round's inputs overwrite them.
  Judgement inspect_timed(const PreparedRound& timed, const Arena& outputs) const;
  /// A timed round, the submission's outputs, and the baseline's outputs for the same inputs.
  struct TimedOutputs {
    const PreparedRound& timed;
    const Arena& outputs;
    const Arena& answers;
  };
  /// For each round, whether the submission's outputs are right by the baseline's outputs. False: undecided, so compare_timed()
  /// must decide. Much faster than compare_timed() for each round.
  Result<std::vector<bool>> settled_by_baseline(const std::vector<TimedOutputs>& rounds) const;
  /// Compares the outputs of a timed round. `answers`: the baseline's outputs for the same inputs, which are compared first; null:
  /// none. They count only where answers_by_baseline().
  Judgement compare_timed(PreparedRound timed, const Arena& outputs, const Arena* answers) const;
  /// Whether the baseline's outputs may replace the reference's: it computes the same, and the device has both.
  bool answers_by_baseline() const;

 private:
  /// Checks that canaries and inputs are intact.
  Judgement inspect(const PreparedRound& prepared, const Arena& outputs) const;
  /// Compares the outputs of rounds that are intact.
  Judgement compare_all(std::vector<PreparedRound>& prepared, const Arena& outputs) const;
  Judgement make_room(const Layout& layout) const;
  Judgement compare(const PreparedRound& prepared, const Arena& outputs,
                    std::optional<Mismatch>& found) const;
  /// The same, but first with the exact answer, then with the reference's own.
  Judgement compare_exact_first(PreparedRound& prepared, const Arena& outputs,
                                std::optional<Mismatch>& found) const;
  /// Compares with the exact answer.
  Judgement compare_exact(const PreparedRound& prepared, const Arena& outputs,
                          std::optional<Mismatch>& found) const;
  Judgement judge_mismatch(const PreparedRound& prepared, std::optional<Mismatch> found) const;

  const SessionInput& input_;
  const std::vector<OutputTolerance> tolerances_;  ///< of each of the task's tensors
  std::function<Judgement(const Layout&)> make_room_;
};

}  // namespace hone
