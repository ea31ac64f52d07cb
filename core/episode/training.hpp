// TrainingData: converts trajectories to lines for trainers.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Takes trajectories (trajectory.hpp) and emits lines, in one of these forms:
///
///   rl     a line for each turn: {"episode", "task", "group", "turn", "messages": [what the model
///          saw], "completion", "reward", "return", "outcome", "speedup", "terminated", "truncated"}.
///          "return" is nil while the episode is open. Turns that a branch shares with its parent
///          are emitted only for the parent.
///   sft    a line for each episode that has a correct turn: {"episode", "task", "group", "turn",
///          "messages": [to the end of its best turn's submission], "reward", "speedup"}.
///   pairs  a line for each task and prompt, at the end: {"task", "prompt", "chosen", "rejected",
///          "chosen_reward", "rejected_reward", "chosen_episode", "rejected_episode"}, the best and
///          the worst submission, if their rewards differ. Only first turns are compared, because
///          later ones depend on feedback. Rewards of different plugins, configurations or
///          machines are never compared.
///
/// A turn without a valid reward is omitted. An episode without its first prompt ("prompt_lost") is
/// omitted except in rl. One thread.
class TrainingData {
 public:
  enum class Form { kTrajectories, kRl, kSft, kPairs };
  using Line = std::function<void(const Value& line)>;

  TrainingData(Form form, Line line) : form_(form), line_(std::move(line)) {}

  /// An error: this is not a trajectory of hone.
  Status add(const Value& trajectory);
  /// Call after the last trajectory.
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

/// "trajectories", "rl", "sft", "pairs"; any other name means trajectories.
TrainingData::Form training_form(const std::string& name);

}  // namespace hone
