// The journal's records as plain data: episodes, intents, turns, endings.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.hpp"

namespace hone {

enum class RecordState : std::int64_t {
  kOpen = 0,
  kEnded = 1,      ///< its last turn is done
  kClosed = 2,     ///< its client closed it
  kReaped = 3,     ///< its lease expired
  kForgotten = 4,  ///< being deleted, a few turns at a time; readers do not see it
  kDamaged = 5,    ///< only in lists: its row is damaged
};
std::string_view record_state_name(RecordState state);

/// A reset. Times are seconds since 1970.
struct EpisodeRecord {
  std::uint64_t id = 0;
  std::array<std::uint8_t, 16> token{};
  std::uint64_t seed = 0;
  std::string environment, task, backend, group, client;
  Sha256 task_hash{};   ///< of the task at reset, to detect a task that has changed
  std::string options;  ///< MessagePack: the options of the reset
  std::string reward, reward_config, reward_version, reward_hash;  ///< reward_config: MessagePack
  double opened_at = 0;
  std::optional<Sha256> reset_key;  ///< of client and key, if the reset had a key
  Sha256 reset_body{};
  std::uint64_t parent = 0;  ///< the episode that it branched from; 0: none
  std::int64_t parent_turn = 0;
};

/// A step that has begun. If the server dies, the repeated step gets the same secret inputs.
struct IntentRecord {
  std::uint64_t episode = 0;
  std::int64_t turn = 0;
  Sha256 action{};
  std::uint64_t seed = 0;
};

/// A finished turn.
struct TurnRecord {
  std::uint64_t episode = 0;
  std::int64_t turn = 0;
  Sha256 hash{};                              ///< of the action
  std::shared_ptr<const std::string> action;  ///< MessagePack; null when only facts were read
  std::uint64_t seed = 0;
  std::string
      outcome;  ///< name of the outcome, perhaps unknown to this version; empty when unscored
  bool scored = false;
  double speedup = std::numeric_limits<double>::quiet_NaN();
  double reward = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t fingerprint = 0;             ///< of a timed verdict; 0: not timed
  std::shared_ptr<const std::string> reply;  ///< MessagePack, as sent
  /// Compiler output, which the reply contains and other replies may contain as well. Long output is stored
  /// once for all of them. Null: none.
  std::shared_ptr<const std::string> words;
  bool ended = false;
  double at = 0;
};

/// A finished tool call of an open turn.
struct CallRecord {
  std::uint64_t episode = 0;
  std::int64_t turn = 0, call = 0;  ///< the turn that was open; its number within the turn, from 1
  Sha256 hash{};                    ///< of the action
  std::string tool;                 ///< perhaps unknown to this version
  std::shared_ptr<const std::string> action, reply;  ///< MessagePack; the reply as sent
  std::shared_ptr<const std::string> words;          ///< as of a turn
  double at = 0;
};

/// What an episode begins with: turns and calls of another one. Empty for a reset.
struct InheritedRecords {
  std::vector<TurnRecord> turns;
  std::vector<CallRecord> calls;
};

/// An episode as read from the journal.
struct StoredEpisode {
  EpisodeRecord record;
  RecordState state = RecordState::kOpen;
  std::uint64_t fingerprint = 0;
  double changed_at = 0;
  std::optional<IntentRecord> intent;
  std::vector<TurnRecord> turns;  ///< in order
  std::vector<CallRecord> calls;  ///< in order of turn and call
};

/// An entry of a list of episodes.
struct EpisodeLine {
  std::uint64_t id = 0;
  std::string task, client, group, reward;
  RecordState state = RecordState::kOpen;
  std::int64_t turns = 0;
  double best_speedup = std::numeric_limits<double>::quiet_NaN();
  double last_reward = std::numeric_limits<double>::quiet_NaN();
  double opened_at = 0, changed_at = 0;
};

struct EpisodeFilter {
  std::optional<RecordState> state;
  std::string task, client, group;  ///< empty: any
  std::string reward = {};          ///< name of the reward; empty: any
  std::int64_t limit = 1000;        ///< number of episodes, newest first; 0: all
  std::string search;   ///< part of the task, client or group, or the first digits of the name
  std::string outcome;  ///< of at least one turn
  /// Only episodes that a list has after this one. It need not exist any more.
  struct Position {
    double opened_at = 0;
    std::uint64_t id = 0;
  };
  std::optional<Position> after;
};

/// The facts of a turn, without its texts.
struct TurnLine {
  std::string task, outcome;
  bool scored = false;
  double speedup = std::numeric_limits<double>::quiet_NaN();
  double reward = std::numeric_limits<double>::quiet_NaN();
  /// The interval of the speedup. JournalReader::each_turn() does not read it; JournalReader::reply() contains it.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string reply = {};  ///< MessagePack, as sent; empty unless it was requested
  std::uint64_t episode = 0;
  std::int64_t turn = 0;
  double at = 0;  ///< seconds since 1970
};

/// The place of a turn in the order in which turns were written. Default: before the first one.
struct TurnPlace {
  std::int64_t row = 0;
  std::uint64_t episode = 0;
  std::int64_t turn = 0;
  std::int64_t read = 0;  ///< number of turns up to here, those that are not visited among them
};

/// The number of episodes of a task.
struct TaskLine {
  std::string task;
  std::int64_t episodes = 0;
};

}  // namespace hone
