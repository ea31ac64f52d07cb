// Environment: prompts, actions, observations and end of an episode, as a pure state machine without I/O,
// threads or clock. The caller passes time and facts in.
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
#include "model/examination.hpp"
#include "model/fields.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"
#include "plugin/dataset.hpp"

namespace hone {

/// Facts of a finished turn that stay in memory. The stored reply has all the rest.
struct TurnFacts {
  /// Name of the outcome; empty if unscored. A journal may contain names that this version does not know.
  std::string outcome;
  bool scored = false;  ///< false: a fault of hone or of the machine
  double speedup = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not measured
  double reward = std::numeric_limits<double>::quiet_NaN();   ///< NaN: none
};

/// Options of one episode that the environment has checked. Shared and immutable.
struct Settings {
  virtual ~Settings() = default;
};

/// A tool call of the episode.
struct CallFacts {
  std::int64_t turn = 0;  ///< the turn that was open
  std::int64_t call = 0;  ///< its number within the turn, from 1
  std::string tool;       ///< a journal may contain names that this version does not know
};

/// The number of these calls that were made in this turn.
std::int64_t calls_in_turn(std::span<const CallFacts> calls, std::int64_t turn);

/// An episode as passed to its environment. Borrowed for one call.
struct EpisodeView {
  const Task& task;
  const std::string& backend;
  const Settings& settings;               ///< the result of this environment's read_options()
  std::span<const TurnFacts> turns;       ///< finished turns, in order
  double seconds_used = 0;                ///< since reset
  std::span<const CallFacts> calls = {};  ///< finished tool calls, in order
  /// Tool calls that the client cancelled, or whose deadline passed, during the evaluation. They have no reply, and
  /// count as used.
  std::span<const CallFacts> cancelled = {};
};

/// Source code to evaluate.
struct SubmittedCode {
  std::string language;
  std::string source;
  bool profile = false;  ///< the verdict gets findings of a profile
};

/// An interpreted action: code, or a verdict that needs no evaluation (no_code, rejected).
using Prepared = std::variant<SubmittedCode, Verdict>;

/// An interpreted tool call.
struct ToolCall {
  Tool tool = Tool::kCheck;
  SubmittedCode code;
};

/// The result of the turn in flight. Without a verdict it is a fault.
struct TurnResult {
  std::optional<Verdict> verdict;
  std::string fault;
  std::optional<double> reward;  ///< set once the turn is scored
};

/// The facts of a result that stay in memory.
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
  std::string reason;       ///< "correct and fast enough"; empty if the episode continues
  bool ended() const { return terminated || truncated; }
};

/// [any thread] All members are pure: the same input gives the same output.
class Environment {
 public:
  virtual ~Environment() = default;

  virtual std::string name() const = 0;

  /// Whether a member may block on another process. Then prepare() is called on a separate thread, for one
  /// step at a time.
  virtual bool may_wait() const { return false; }

  /// Whether the environment can use this task, by the task's list entry. Random draws leave out other tasks.
  virtual bool takes(const TaskEntry& /*entry*/) const { return true; }

  /// {"name", "max_turns", "actions", "observation", "options": {…with defaults}}
  virtual Value describe() const = 0;

  /// Reads this environment's members of a reset's options. The caller calls finish() on the reader, so that
  /// an unknown key is an error. Mistakes are recorded in the reader.
  virtual std::shared_ptr<const Settings> read_options(Fields& options, const Task& task,
                                                       const std::string& backend) const = 0;

  /// Limit of turns in an episode.
  virtual std::int64_t turns_max(const Settings& settings) const = 0;

  /// The observation of turn 0: the task and the whole prompt. Every observation has "messages", "feedback",
  /// "turn" and "turns_left", which clients rely on, and any further members of the environment.
  virtual Value first_observation(const EpisodeView& view) const = 0;

  /// Interprets the action. An Error means a malformed action, and leaves the turn open.
  virtual Result<Prepared> prepare(const EpisodeView& view, const Value& action) const = 0;

  /// Interprets a tool call. An Error means a malformed call, or one that the episode does not allow.
  virtual Result<ToolCall> prepare_call(const EpisodeView& view, const Value& action) const;

  /// The observation after a tool call; `view.calls` ends with the call before it. It has "messages", "feedback",
  /// "turn" and "turns_left".
  virtual Value observe_call(const EpisodeView& view, const Value& action, Tool tool,
                             const Examination& found) const;

  /// Whether the episode ends with this turn. Called before the turn is scored (without a reward) and after
  /// it.
  virtual Stop stop(const EpisodeView& view, const TurnResult& result) const = 0;

  /// The observation after this turn; `view.turns` ends with the turn before it.
  virtual Value observe(const EpisodeView& view, const Value& action,
                        const TurnResult& result) const = 0;

  /// The seconds since reset that a stored observation contains; nullopt if they do not matter.
  virtual std::optional<double> seconds_used(const Settings& /*settings*/,
                                             const Value& /*observation*/) const {
    return std::nullopt;
  }
};

using Environments = std::vector<std::unique_ptr<Environment>>;

/// The environment with this name; nullptr if there is none.
inline const Environment* find_environment(const Environments& environments,
                                           std::string_view name) {
  for (const std::unique_ptr<Environment>& one : environments) {
    if (one->name() == name) return one.get();
  }
  return nullptr;
}

}  // namespace hone
