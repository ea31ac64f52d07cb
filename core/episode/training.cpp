// Selects turns, and the messages before each of them.
#include "episode/training.hpp"

#include <algorithm>

namespace hone {
namespace {

bool counts(const Value& turn) {
  const Value& valid = member_or_nil(turn, "reward_valid");
  return valid.is_bool() && valid.as_bool() && member_or_nil(turn, "reward").is_number();
}

bool whole(const Value& trajectory) {
  const Value& lost = member_or_nil(trajectory, "prompt_lost");
  return lost.is_bool() && !lost.as_bool();
}

double reward_of(const Value& turn) { return member_or_nil(turn, "reward").as_double(); }

const Value& outcome_of(const Value& turn) {
  return member_or_nil(member_or_nil(turn, "verdict"), "outcome");
}

Value speedup_of(const Value& turn) {
  return member_or_nil(member_or_nil(member_or_nil(turn, "verdict"), "speedup"), "value");
}

/// The index of the turn's submission among the messages. The model saw the messages before it.
std::size_t place_of(const Value& turn) {
  return static_cast<std::size_t>(member_or_nil(turn, "message").as_int());
}

Value up_to(const Value::Array& messages, std::size_t end) {
  return Value::Array(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(end, messages.size())));
}

/// The turns after the point at which the episode branched from its parent.
Value::Array own_turns(const Value& trajectory) {
  const Value& shared = member_or_nil(trajectory, "parent_turn");
  Value::Array turns = list_or_empty(member_or_nil(trajectory, "turns"));
  if (member_or_nil(trajectory, "parent").is_nil() || !shared.is_int()) return turns;
  turns.erase(turns.begin(),
              turns.begin() + std::min(static_cast<std::ptrdiff_t>(turns.size()),
                                       static_cast<std::ptrdiff_t>(shared.as_int())));
  return turns;
}

/// The fingerprint of the first verdict that has one. All verdicts of an episode have the same.
std::string fingerprint_of(const Value& trajectory) {
  for (const Value& turn : list_or_empty(member_or_nil(trajectory, "turns"))) {
    const Value& found = member_or_nil(member_or_nil(turn, "verdict"), "fingerprint");
    if (found.is_string() && !found.as_string().empty()) return found.as_string();
  }
  return "";
}

}  // namespace

TrainingData::Form training_form(const std::string& name) {
  if (name == "rl") return TrainingData::Form::kRl;
  if (name == "sft") return TrainingData::Form::kSft;
  return name == "pairs" ? TrainingData::Form::kPairs : TrainingData::Form::kTrajectories;
}

Status TrainingData::add(const Value& trajectory) {
  const std::size_t messages = list_or_empty(member_or_nil(trajectory, "messages")).size();
  for (const Value& turn : list_or_empty(member_or_nil(trajectory, "turns"))) {
    const Value& place = member_or_nil(turn, "message");
    if (!place.is_int() || place.as_int() < 0 ||
        static_cast<std::size_t>(place.as_int()) >= messages) {
      return failed_precondition("episode " + to_json(member_or_nil(trajectory, "episode")) +
                                 ": a turn without its messages");
    }
  }
  if (form_ == Form::kTrajectories) line_(trajectory);
  if (form_ == Form::kRl) add_turns(trajectory);
  if (form_ == Form::kSft && whole(trajectory)) add_best(trajectory);
  if (form_ == Form::kPairs && whole(trajectory)) add_to_pair(trajectory);
  return {};
}

void TrainingData::add_turns(const Value& trajectory) {
  const Value::Array messages = list_or_empty(member_or_nil(trajectory, "messages"));
  const Value::Array returns = list_or_empty(member_or_nil(trajectory, "returns"));
  for (const Value& turn : own_turns(trajectory)) {
    if (!counts(turn)) continue;
    const auto number = static_cast<std::size_t>(member_or_nil(turn, "turn").as_int());
    line_(Value::map({{"episode", member_or_nil(trajectory, "episode")},
                      {"task", member_or_nil(trajectory, "task")},
                      {"group", member_or_nil(trajectory, "group")},
                      {"turn", number},
                      {"messages", up_to(messages, place_of(turn))},
                      {"completion", member_or_nil(messages[place_of(turn)], "content")},
                      {"reward", member_or_nil(turn, "reward")},
                      {"return", number <= returns.size() ? returns[number - 1] : Value()},
                      {"outcome", outcome_of(turn)},
                      {"speedup", speedup_of(turn)},
                      {"terminated", member_or_nil(turn, "terminated")},
                      {"truncated", member_or_nil(turn, "truncated")}}));
  }
}

void TrainingData::add_best(const Value& trajectory) {
  const Value::Array turns = own_turns(trajectory);
  const Value* best = nullptr;
  for (const Value& turn : turns) {
    if (!counts(turn) || outcome_of(turn) != Value("correct")) continue;
    if (best == nullptr || reward_of(turn) > reward_of(*best)) best = &turn;
  }
  if (best == nullptr) return;
  line_(Value::map({{"episode", member_or_nil(trajectory, "episode")},
                    {"task", member_or_nil(trajectory, "task")},
                    {"group", member_or_nil(trajectory, "group")},
                    {"turn", member_or_nil(*best, "turn")},
                    {"messages", up_to(list_or_empty(member_or_nil(trajectory, "messages")),
                                       place_of(*best) + 1)},
                    {"reward", member_or_nil(*best, "reward")},
                    {"speedup", speedup_of(*best)}}));
}

void TrainingData::add_to_pair(const Value& trajectory) {
  const Value::Array turns = own_turns(trajectory);
  if (turns.empty() || member_or_nil(turns.front(), "turn") != Value(1) || !counts(turns.front()))
    return;
  const Value& turn = turns.front();
  const Value::Array messages = list_or_empty(member_or_nil(trajectory, "messages"));
  const Value prompt = up_to(messages, place_of(turn));
  const Value& reward = member_or_nil(trajectory, "reward");
  const std::string key =
      to_msgpack(Value::array({member_or_nil(trajectory, "task"), prompt,
                               member_or_nil(reward, "name"), member_or_nil(reward, "version"),
                               member_or_nil(reward, "config_hash"), fingerprint_of(trajectory)}));
  const Side side{Value::array({messages[place_of(turn)]}), member_or_nil(trajectory, "episode"),
                  reward_of(turn)};
  auto [found, first] = pairs_.try_emplace(key);
  Pair& pair = found->second;
  if (first) pair = {member_or_nil(trajectory, "task"), prompt, side, side};
  if (side.reward > pair.best.reward) pair.best = side;
  if (side.reward < pair.worst.reward) pair.worst = side;
}

void TrainingData::finish() {
  for (const auto& [key, pair] : pairs_) {
    if (pair.best.reward <= pair.worst.reward) continue;
    line_(Value::map({{"task", pair.task},
                      {"prompt", pair.prompt},
                      {"chosen", pair.best.submission},
                      {"rejected", pair.worst.submission},
                      {"chosen_reward", pair.best.reward},
                      {"rejected_reward", pair.worst.reward},
                      {"chosen_episode", pair.best.episode},
                      {"rejected_episode", pair.worst.episode}}));
  }
  pairs_.clear();
}

}  // namespace hone
