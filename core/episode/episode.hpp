// Episode, Flight and Turn: what the host keeps of one reset and its steps. Plain data;
// EpisodeTable guards it.
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

/// Open episodes and steps of one client; owned by the table, kept while anything refers to it.
struct ClientLoad {
  std::string name;
  std::size_t episodes_open = 0;  ///< not ended
  std::size_t episodes = 0;       ///< all that the table still holds
  std::size_t steps = 0;          ///< steps in flight
  std::size_t bytes = 0;          ///< of the replies kept of its episodes
};

/// A turn that is done. Its reply is kept once, as sent; prompts, histories and rewards are made
/// from it.
struct StoredTurn {
  Sha256 action{};         ///< of the action's MessagePack
  std::uint64_t seed = 0;  ///< secret: inputs followed from it
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
  Sha256 hash{};  ///< of `bytes`
  Value action;
  std::shared_ptr<const std::string> bytes;  ///< the action's MessagePack
  std::uint64_t seed = 0;                    ///< drawn for this attempt; secret
  double deadline_s = 0;
  // Below: guarded by the table.
  std::vector<Waiter> waiters;
  std::uint64_t evaluation = 0;  ///< the evaluator's id
  bool submitted = false;
  bool cancelled = false;
  bool settled = false;  ///< its result exists, so it is too late to cancel
};

/// 16 hexadecimal digits.
std::string episode_name(std::uint64_t id);
/// The number behind an episode's name; 0 for what is none.
std::uint64_t episode_number(std::string_view name);

/// Rationale: 100,000 of them are open at once, so nothing that several share is copied into each.
struct Episode {
  std::uint64_t id = 0;
  std::array<std::uint8_t, 16> token{};
  std::uint64_t seed = 0;  ///< drew the task; no secret
  const Environment* environment = nullptr;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Settings> settings;
  std::shared_ptr<const Reward> reward;
  std::string backend;
  std::string group;
  std::string client;
  double started_s = 0;
  // Below: guarded by the table. While a step is in flight, turns, facts and fingerprint do not change, so the thread that completes it reads them without the lock.
  std::string connection;
  double expires_s = 0;
  std::vector<TurnFacts> facts;
  std::vector<StoredTurn> turns;
  std::uint64_t fingerprint = 0;  ///< of the first verdict that was measured; 0: none yet
  bool ended = false;
  std::shared_ptr<Flight> flight;
  ClientLoad* load = nullptr;
  Sha256 reset_key{};           ///< its place in the table's reset keys; all zero: none
  double resident_until_s = 0;  ///< before that it stays in memory, named or not
  /// The step that a server took up and did not live to finish.
  std::unique_ptr<const IntentRecord> intent;

  EpisodeView view(std::span<const TurnFacts> done, double now_s) const {
    return {*task, backend, *settings, done, now_s - started_s};
  }
  /// To a client whose name is proven, episodes of others are as good as none.
  bool foreign_to(const Caller& caller) const { return caller.proven && client != caller.client; }
  std::string name() const { return episode_name(id); }
  std::string token_text() const;  ///< 32
};

}  // namespace hone
