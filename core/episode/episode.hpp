// Episode, Flight and StoredTurn: the host's data of one reset and its steps. Plain data, guarded by
// EpisodeTable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/crypto.hpp"
#include "episode/environment.hpp"
#include "episode/service.hpp"
#include "journal/records.hpp"
#include "plugin/reward.hpp"

namespace hone {

/// Open episodes and steps of one client. Owned by the table, which keeps it while anything refers to it.
struct ClientLoad {
  std::string name;
  std::size_t episodes_open = 0;  ///< episodes that have not ended
  std::size_t episodes = 0;       ///< all stored episodes
  std::size_t steps = 0;          ///< steps in flight
  std::size_t bytes = 0;          ///< of the stored replies of its episodes
};

/// A finished turn. Only the reply is stored, as it was sent; prompts, histories and rewards are computed
/// from it.
struct StoredTurn {
  Sha256 action{};         ///< of the action's MessagePack
  std::uint64_t seed = 0;  ///< secret; inputs and hidden shapes were derived from it
  std::shared_ptr<const std::string> reply;
};

/// A finished tool call. The facts of the same index belong to it.
struct StoredCall {
  Sha256 action{};  ///< of the action's MessagePack
  std::shared_ptr<const std::string> reply;
};

/// A client that waits for a step.
struct Waiter {
  EpisodeService::Reply reply;
  EpisodeService::Progress progress;
};

/// A step in flight.
struct Flight {
  std::int64_t turn = 0;
  std::int64_t call = 0;  ///< number of a tool call within the turn; 0: the step that ends the turn
  Sha256 hash{};          ///< of `bytes`
  Value action;
  std::shared_ptr<const std::string> bytes;  ///< the action's MessagePack
  std::uint64_t seed = 0;                    ///< drawn for this attempt; secret
  double deadline_s = 0;
  // The members below are guarded by the table.
  std::vector<Waiter> waiters;
  std::uint64_t evaluation = 0;  ///< the evaluator's id
  bool submitted = false;
  bool begun = false;  ///< its evaluation has begun, so its client may know a stage
  bool cancelled = false;
  bool settled = false;  ///< its result exists, so it is too late to cancel
};

/// 16 hexadecimal digits.
std::string episode_name(std::uint64_t id);
/// The number of an episode by its name; 0 for a malformed name.
std::uint64_t episode_number(std::string_view name);

/// Rationale of the pointers: up to 100,000 episodes are open at once, so data that several share is not
/// copied.
struct Episode {
  std::uint64_t id = 0;
  std::array<std::uint8_t, 16> token{};
  std::uint64_t seed = 0;  ///< seed that drew the task; not secret
  const Environment* environment = nullptr;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Settings> settings;
  std::shared_ptr<const Reward> reward;
  std::string backend;
  std::string group;
  std::string client;
  double started_s = 0;
  // The members below are guarded by the table. While a step is in flight, turns, calls, facts and fingerprint do
  // not change (cancelled_calls neither), so the thread that completes it reads them without the lock.
  std::string connection;
  double expires_s = 0;
  std::vector<TurnFacts> facts;
  std::vector<StoredTurn> turns;
  std::vector<CallFacts> call_facts;
  std::vector<StoredCall> calls;
  /// Tool calls that were cancelled after their evaluation had begun. Not in the journal.
  std::vector<CallFacts> cancelled_calls;
  std::size_t cancelled_steps = 0;  ///< likewise, steps
  std::uint64_t fingerprint = 0;    ///< of the first timed verdict; 0: none yet
  bool ended = false;
  std::shared_ptr<Flight> flight;
  ClientLoad* load = nullptr;
  Sha256 reset_key{};           ///< its key in the table's reset keys; all zero: none
  double resident_until_s = 0;  ///< until then it stays in memory, even without requests
  /// A step that an earlier server began and did not finish.
  std::unique_ptr<const IntentRecord> intent;

  /// With these turns and calls, and no cancelled ones.
  EpisodeView view(std::span<const TurnFacts> done, std::span<const CallFacts> called,
                   double now_s) const {
    return {*task, backend, *settings, done, now_s - started_s, called};
  }
  /// With all that is done.
  EpisodeView view(double now_s) const {
    EpisodeView all = view(facts, call_facts, now_s);
    all.cancelled = cancelled_calls;
    return all;
  }
  /// Whether the episode belongs to another client. Applies only to callers whose names are authenticated:
  /// for them it does not exist.
  bool foreign_to(const Caller& caller) const { return caller.proven && client != caller.client; }
  std::string name() const { return episode_name(id); }
  std::string token_text() const;  ///< 32 hexadecimal digits
};

/// Bytes of the stored replies of its turns and calls.
std::size_t stored_bytes(const Episode& episode);

}  // namespace hone
