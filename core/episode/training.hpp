// TrainingData: trajectories as the lines that a trainer reads.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Takes trajectories (trajectory.hpp), gives lines.
///
///   rl     a line for each turn: {"episode", "task", "group", "turn", "messages": [what the model
///          saw], "completion", "reward", "return", "outcome", "speedup", "terminated", "truncated"}.
///          "return" is nil while the episode is open. What a branch shares with its parent comes
///          with the parent alone.
///   sft    a line for each episode that has a correct turn: {"episode", "task", "group", "turn",
///          "messages": [to the end of its best turn's submission], "reward", "speedup"}.
///   pairs  a line for each task and prompt, at the end: {"task", "prompt", "chosen", "rejected",
///          "chosen_reward", "rejected_reward", "chosen_episode", "rejected_episode"}, the best and
///          the worst submission, where their rewards differ. Rewards of different kinds,
///          configurations or machines are never compared, and only what the prompt alone led to
///          is: first turns.
///
/// A turn without a valid reward is in none of them; nor, except in rl, is an episode without its
/// first prompt ("prompt_lost"). One thread.
class TrainingData {
 public:
  enum class Form { kTrajectories, kRl, kSft, kPairs };
  using Line = std::function<void(const Value& line)>;

  TrainingData(Form form, Line line) : form_(form), line_(std::move(line)) {}

  /// An error: the trajectory is none of ours.
  Status add(const Value& trajectory);
  /// After the last.
  void finish();

 private:
  struct Side {
    Value submission, episode;
    double reward = 0;
  };
  struct Pair {
    Value task, prompt;
    Side best, worst;
  };
  void add_turns(const Value& trajectory);
  void add_best(const Value& trajectory);
  void add_to_pair(const Value& trajectory);

  const Form form_;
  const Line line_;
  std::map<std::string, Pair> pairs_;
};

/// "trajectories", "rl", "sft", "pairs"; trajectories for any other.
TrainingData::Form training_form(const std::string& name);

}  // namespace hone
