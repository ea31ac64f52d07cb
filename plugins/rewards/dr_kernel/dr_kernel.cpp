// Dr. Kernel's reward: half for correct, half of the capped speedup, half of the coverage where
// that is known.
#include "common/returns.hpp"

namespace hone::rewards {
namespace {

class DrKernel {
 public:
  static RewardDescription describe() {
    // Coverage is the share of the device's time that a module's own kernels took. If it is missing, or the dry run contradicts it, the term adds 0 and `coverage_known` is 0. Rationale: both values come from the submission's own processes, so a configuration must enable the term.
    Parameters parameters = with_speedup_cap(shared_parameters(1, "forward"), 3);
    parameters.push_back(choice_parameter(
        "coverage", "ignored", {"ignored", "evidence", "witnessed"},
        "evidence: from the times in verdict.work, which a submission could forge; "
        "witnessed: if its dry run agrees"));
    return {
        .summary = "0.5 if correct, plus 0.5 clip(speedup, 0, 3), plus 0.5 coverage where known",
        .source =
            "Dr. Kernel, calculate_reward_speedup: gamma 1, 3 turns, returns per turn; "
            "coverage is unknown for native kernels and then adds 0",
        .low = 0,
        .high = 2.5,
        .parameters = std::move(parameters)};
  }

  explicit DrKernel(const Config& config)
      : rules_(read_capped_rules(config)),
        evidence_(config.text("coverage") != "ignored"),
        witnessed_(config.text("coverage") == "witnessed") {}

  RewardReport score(const Episode& episode) const {
    return score_turns(episode, rules_.returns, [this](const Turn& turn) {
      const double correct = turn.correct() ? 0.5 : 0;
      const double speedup = 0.5 * rules_.speedup(turn).value_or(0);
      TurnScore score{correct + speedup, {{"correct", correct}, {"speedup", speedup}}};
      const std::optional<double> share = evidence_ ? coverage(turn) : std::nullopt;
      score.components.emplace_back("coverage_known", share ? 1 : 0);
      if (share) {
        score.components.emplace_back("coverage", 0.5 * *share);
        score.reward += 0.5 * *share;
      }
      return score;
    });
  }

 private:
  std::optional<double> coverage(const Turn& turn) const {
    Reader verdict(turn.verdict, "verdict");
    if (!turn.correct() || verdict.value_or_null("work") == nullptr) return std::nullopt;
    Reader work = verdict.inside("work");
    if (work.value_or_null("kernels_us") == nullptr ||
        work.value_or_null("operators_us") == nullptr)
      return std::nullopt;
    if (!work.flag_or("agrees", !witnessed_)) return std::nullopt;
    const double own = work.number("kernels_us", 0), torch = work.number("operators_us", 0);
    if (own + torch <= 0) return std::nullopt;
    return own / (own + torch);
  }

  Rules rules_;
  bool evidence_, witnessed_;
};

}  // namespace
}  // namespace hone::rewards

HONE_EXPORT_REWARD(hone::rewards::DrKernel, "dr_kernel", "2.0.0");
