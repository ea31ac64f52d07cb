// Environment: what an episode is about, as a pure state machine: no I/O, no threads, no clock.
// Time and facts come in.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "model/fields.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"
#include "plugin/dataset.hpp"

namespace hone {

/// Facts of a finished turn that stay in memory; the reply has everything else.
struct TurnFacts {
  /// Its name; empty when unscored. A journal may hold names that this version does not know.
  std::string outcome;
  bool scored = false;  ///< false: a fault of hone or of the machine
  double speedup = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not measured
  double reward = std::numeric_limits<double>::quiet_NaN();   ///< NaN: none
};

/// An environment's own, checked options of one episode. Shared, never changed.
struct Settings {
  virtual ~Settings() = default;
};

/// An episode as its environment sees it. Borrowed for a call.
struct EpisodeView {
  const Task& task;
  const std::string& backend;
  const Settings& settings;          ///< made by the same environment's read_options()
  std::span<const TurnFacts> turns;  ///< done, in order
  double seconds_used = 0;           ///< since reset
};

/// Code to evaluate.
struct Candidate {
  std::string language;
  std::string source;
};

/// An interpreted action: code, or a verdict that needs no evaluation (no_code, rejected).
using Prepared = std::variant<Candidate, Verdict>;

/// The result of the turn in flight. Without a verdict it is a fault, with its reason.
struct TurnResult {
  std::optional<Verdict> verdict;
  std::string fault;
  std::optional<double> reward;  ///< unknown until scored
};

/// What stays of it.
inline TurnFacts facts_of(const TurnResult& result) {
  TurnFacts facts;
  facts.scored = result.verdict.has_value();
  if (result.verdict) facts.outcome = outcome_name(result.verdict->outcome);
  if (result.verdict && result.verdict->speedup) facts.speedup = result.verdict->speedup->value;
  if (result.reward) facts.reward = *result.reward;
  return facts;
}

struct Stop {
  bool terminated = false;  ///< the goal of the task is reached
  bool truncated = false;   ///< a limit came first
  std::string reason;       ///< "correct and fast enough"; empty when the episode goes on
  bool ended() const { return terminated || truncated; }
};

/// [any thread] All members, and all are pure: the same input gives the same output.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual std::string name() const = 0;

  /// Whether its members may wait for another process. If so, prepare() is called on a thread of its own, one step after another.
  virtual bool may_wait() const { return false; }

  /// Whether it can be played on this task, told by the entry of its list; a draw leaves out the others.
  virtual bool takes(const TaskEntry& /*entry*/) const { return true; }

  /// {"name", "max_turns", "actions", "observation", "options": {…with defaults}}
  virtual Value describe() const = 0;

  /// Reads this environment's members of a reset's options. The caller finishes the reader, so that
  /// a key that neither of them knows is an error; mistakes are left in it.
  virtual std::shared_ptr<const Settings> read_options(Fields& options, const Task& task,
                                                       const std::string& backend) const = 0;

  /// Limit of turns in an episode.
  virtual std::int64_t turns_max(const Settings& settings) const = 0;

  /// The observation of turn 0: the task and the whole prompt. It and those of turns have "messages",
  /// "feedback", "turn" and "turns_left", which clients rely on, and what else the environment says.
  virtual Value first_observation(const EpisodeView& view) const = 0;

  /// Interprets the action. An Error is a mistake of the caller (a malformed action) and leaves the turn open.
  virtual Result<Prepared> prepare(const EpisodeView& view, const Value& action) const = 0;

  /// Whether the episode ends with this turn. Asked once before the turn is scored (no reward) and
  /// once after.
  virtual Stop stop(const EpisodeView& view, const TurnResult& result) const = 0;

  /// The observation after this turn; `view.turns` ends with the turn before it.
  virtual Value observe(const EpisodeView& view, const Value& action,
                        const TurnResult& result) const = 0;

  /// Seconds since reset as an observation of its own tells them; nothing when they do not matter.
  virtual std::optional<double> seconds_used(const Settings& /*settings*/,
                                             const Value& /*observation*/) const {
    return std::nullopt;
  }
};

using Environments = std::vector<std::unique_ptr<Environment>>;

/// The one of this name; nullptr where there is none.
inline const Environment* find_environment(const Environments& environments,
                                           std::string_view name) {
  for (const std::unique_ptr<Environment>& one : environments) {
    if (one->name() == name) return one.get();
  }
  return nullptr;
}

}  // namespace hone
