// Reconstructs the submissions of recorded turns, and compares verdicts and rewards.
#include "episode/replay.hpp"

#include <cmath>

#include "episode/episode.hpp"
#include "episode/recording.hpp"
#include "episode/trajectory.hpp"

namespace hone {
namespace {

constexpr double kSameReward = 1e-9;

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

std::string interval_text(const Speedup& speedup) {
  return number_text(speedup.value) + " (" + number_text(speedup.low) + " to " +
         number_text(speedup.high) + ")";
}

/// "wrong (output out differs …)"
std::string outcome_text(std::string_view outcome, const std::string& reason) {
  const bool correct = outcome == outcome_name(Outcome::kCorrect);
  return std::string(outcome) + (correct || reason.empty() ? "" : " (" + reason + ")");
}

Result<std::optional<RecordedVerdict>> recorded_verdict(const TurnRecord& turn) {
  if (!turn.scored) return std::optional<RecordedVerdict>();
  HONE_ASSIGN(const Value reply, recorded_value(*turn.reply));
  const Value* info = reply.find("info");
  const Value* verdict = info != nullptr ? info->find("verdict") : nullptr;
  if (verdict == nullptr) return internal_error("a scored turn without a verdict");
  Fields f(*verdict, "verdict");
  RecordedVerdict read{*verdict, f.text("outcome"), f.text_or("reason", ""), {}};
  HONE_TRY(f.finish_loosely());
  if (parse_outcome(read.outcome)) {
    HONE_ASSIGN(read.known, verdict_from_value(*verdict));
  }
  return std::optional(std::move(read));
}

void compare_speedups(const Verdict& then, const Verdict& now, std::vector<std::string>& to) {
  if (!then.speedup || !now.speedup) return;
  const bool apart = then.speedup->high < now.speedup->low || now.speedup->high < then.speedup->low;
  if (!apart) return;
  std::string line =
      "speedup: " + interval_text(*then.speedup) + " then, " + interval_text(*now.speedup) + " now";
  if (then.fingerprint != now.fingerprint) {
    line += "; measured by " + then.fingerprint + " then, by " + now.fingerprint + " now";
  }
  to.push_back(std::move(line));
}

void compare_verdicts(const RecordedVerdict& then, const Verdict& now,
                      std::vector<std::string>& to) {
  const std::string_view outcome = outcome_name(now.outcome);
  if (then.outcome != outcome) {
    to.push_back("outcome: " + outcome_text(then.outcome, then.reason) + " then, " +
                 outcome_text(outcome, now.reason) + " now");
  } else if (then.known) {
    compare_speedups(*then.known, now, to);
  }
}

/// The reward's input, with these verdicts in place of the recorded ones.
Value with_verdicts(const Value& input, const std::vector<ReplayTurn>& replayed) {
  Value turns = Value::array();
  const Value::Array& recorded = input.find("turns")->as_array();
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    Value turn = recorded[i];
    if (replayed[i].then && replayed[i].now) {
      turn.set("verdict", verdict_to_value(*replayed[i].now));
    }
    turns.push(std::move(turn));
  }
  Value changed = input;
  changed.set("turns", std::move(turns));
  return changed;
}

/// The reward of turn n is computed from the first n turns, because later turns must not count.
Result<std::vector<std::optional<double>>> rewards_of(const Reward& reward, const Value& input,
                                                      bool ended) {
  const Value::Array& all = input.find("turns")->as_array();
  std::vector<std::optional<double>> rewards;
  Value turns = Value::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    turns.push(all[i]);
    Value part = input;
    part.set("turns", turns).set("ended", ended && i + 1 == all.size());
    HONE_ASSIGN(const RewardReport report, reward.score(part));
    const std::optional<TurnReward>& last = report.turns.back();
    rewards.push_back(last ? std::optional<double>(last->reward) : std::nullopt);
  }
  return rewards;
}

Status compare_rewards(const StoredEpisode& stored, const Environment& environment,
                       const Catalog& tasks, const Reward& reward, std::vector<ReplayTurn>& turns) {
  if (turns.empty()) return {};
  HONE_ASSIGN(const Value input, reward_input_of(stored, environment, tasks));
  const bool ended = stored.turns.back().ended;
  HONE_ASSIGN(const auto of_then, rewards_of(reward, input, ended));
  HONE_ASSIGN(const auto of_now, rewards_of(reward, with_verdicts(input, turns), ended));
  for (std::size_t i = 0; i < turns.size(); ++i) {
    ReplayTurn& turn = turns[i];
    if (turn.then && turn.now) turn.reward_now = of_now[i];
    if (!turn.reward_then || !of_then[i]) continue;
    if (std::abs(*turn.reward_then - *of_then[i]) <= kSameReward) continue;
    std::string line = "reward: " + number_text(*turn.reward_then) + " then; " +
                       number_text(*of_then[i]) + " now for the verdict of then";
    if (reward.version() != stored.record.reward_version) {
      line += "; " + stored.record.reward + " was version " + stored.record.reward_version +
              ", now " + reward.version();
    }
    turn.differences.push_back(std::move(line));
  }
  return {};
}

}  // namespace

Result<std::vector<ReplayTurn>> plan_replay(const StoredEpisode& stored,
                                            const Environment& environment, const Catalog& tasks) {
  const EpisodeRecord& r = stored.record;
  HONE_ASSIGN(const Setting setting, setting_of(r, environment, tasks));
  std::vector<ReplayTurn> turns;
  std::vector<TurnFacts> facts;
  for (const TurnRecord& turn : stored.turns) {
    ReplayTurn replayed;
    replayed.turn = turn.turn;
    HONE_ASSIGN(replayed.then, recorded_verdict(turn));
    if (!std::isnan(turn.reward)) replayed.reward_then = turn.reward;
    HONE_ASSIGN(const Value action, recorded_value(*turn.action));
    const EpisodeView view{*setting.task, r.backend, *setting.settings, facts, 0};
    Result<Prepared> prepared = environment.prepare(view, action);
    if (!prepared) {
      replayed.now = prepared.error();
    } else if (auto* verdict = std::get_if<Verdict>(&*prepared)) {
      replayed.now = std::move(*verdict);
    } else {
      SubmittedCode& candidate = std::get<SubmittedCode>(*prepared);
      replayed.submission = Submission{.task = setting.task,
                                       .backend = r.backend,
                                       .language = std::move(candidate.language),
                                       .source = std::move(candidate.source),
                                       .client = "replay",
                                       .episode = episode_name(r.id),
                                       .group = r.group,
                                       .seed = turn.seed,
                                       .profile = candidate.profile};
    }
    facts.push_back(facts_of(turn));
    turns.push_back(std::move(replayed));
  }
  return turns;
}

void compare_replay(const StoredEpisode& stored, const Environment& environment,
                    const Catalog& tasks, const Result<std::unique_ptr<Reward>>& reward,
                    std::vector<ReplayTurn>& turns) {
  for (ReplayTurn& turn : turns) {
    if (!turn.now) {
      turn.differences.push_back("not judged now: " + turn.now.error().message);
    } else if (turn.then) {
      compare_verdicts(*turn.then, *turn.now, turn.differences);
    }
  }
  const Status scored = reward ? compare_rewards(stored, environment, tasks, **reward, turns)
                               : Status(reward.error());
  if (scored || turns.empty()) return;
  turns.front().differences.push_back("reward: " + stored.record.reward + ": " +
                                      scored.error().message);
}

}  // namespace hone
