// EpisodeTable: all open episodes, with owner, lease and step in flight. One lock, which is never held during
// a call to another component.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.hpp"
#include "episode/episode.hpp"

namespace hone {

struct EpisodeLimits {
  double lease_s = 900;             ///< idle time after which an episode is closed
  double resident_s = 60;           ///< idle time after which a journalled episode leaves memory
  std::size_t cancelled_steps = 8;  ///< steps that a client may end early (cancel, deadline)
  double ended_lease_s =
      120;  ///< idle time after the last turn, so that a client can ask again for a lost reply
  std::size_t episodes = 200'000;          ///< stored episodes of all clients, including ended ones
  std::size_t client_episodes = 100'000;   ///< open episodes of one client
  std::size_t client_steps = 1024;         ///< steps in flight of one client
  std::size_t client_bytes = 16ull << 30;  ///< stored replies of one client
};

/// The not_found error of an unknown episode, with all possible causes.
Error unknown_episode();

/// Theory of operation. Each request about an episode renews its lease. A heap of expiry times finds expired
/// leases without a scan; a heap entry may be out of date, and is then pushed again with the current time. A
/// step takes three calls. begin() tells whether the step is a repeat, joins a step in flight, or is new; a
/// new step makes a Flight. Slow work happens without the lock. end() or abandon() removes the flight and
/// returns the clients to answer.
///
/// [any thread] All members.
class EpisodeTable {
 public:
  /// `now_s`: monotonic seconds.
  EpisodeTable(EpisodeLimits limits, std::function<double()> now_s);

  using Body = std::shared_ptr<const std::string>;
  using Pinned = std::shared_ptr<Episode>;
  struct ResetKey {
    Sha256 key{};   ///< of client and key
    Sha256 body{};  ///< of the whole request
  };
  struct Joined {};  ///< the waiter was added to a step in flight
  struct Started {
    Pinned episode;
    std::shared_ptr<Flight> flight;
  };
  using Begun = std::variant<Body, Joined, Started>;
  struct Snapshot {
    Pinned episode;
    std::vector<TurnFacts> facts;
    std::vector<StoredTurn> turns;
    std::vector<CallFacts> call_facts;
    std::vector<StoredCall> calls;
    bool pending = false;
    bool ended = false;
    std::uint64_t fingerprint = 0;
  };
  struct Counts {
    std::size_t episodes = 0, open = 0, unloaded = 0, clients = 0, steps = 0;
    std::size_t history_bytes = 0;  ///< of all stored replies
  };

  /// The episode that an earlier request with this key created; failed_precondition if that request had
  /// another body.
  Result<Pinned> find_reset(const ResetKey& key) const;
  /// A random id that no episode has.
  std::uint64_t unused_id() const;
  /// Adds a new episode, with a new id unless it has one. Returns the existing episode if a request with the
  /// same `key` created one meanwhile. resource_exhausted: a quota is used up.
  Result<Pinned> insert(const Caller& caller, Pinned episode, const std::optional<ResetKey>& key);

  /// Errors name the turn that was found and the expected one. `refuse_new`: only repeats and joins are
  /// allowed.
  Result<Begun> begin(const Caller& caller, std::uint64_t id, std::shared_ptr<Flight> flight,
                      Waiter waiter, bool refuse_new);
  /// Stores the evaluator's id of the step. True: the step was cancelled meanwhile, so the caller must cancel
  /// the evaluation.
  bool submitted(const Started& step, std::uint64_t evaluation);
  /// Called once, when the flight has its result. Returns whether the step was cancelled (or its episode
  /// closed) before. Later cancels are refused as too late.
  bool settle(const Started& step);
  /// Returns the clients that get a progress message. `begun`: the evaluation has begun.
  std::vector<EpisodeService::Progress> watchers(const Started& step, bool begun);
  /// Records the turn. Returns the clients that get the reply.
  std::vector<Waiter> end(const Started& step, TurnFacts facts, Body reply, bool ended,
                          std::uint64_t fingerprint);
  /// Records the tool call, and leaves the turn open. Returns the clients that get the reply.
  std::vector<Waiter> end_call(const Started& step, CallFacts facts, Body reply);
  /// Leaves the turn open. Returns the clients that get the error.
  std::vector<Waiter> abandon(const Started& step);
  /// Counts a step that its client ended early, by a cancellation or its deadline, before abandon(). Rationale: its client
  /// may know from progress messages how far the evaluation came. Without a count, it could learn about hidden
  /// shapes at no cost. False: the evaluation had not begun, so nothing is counted.
  bool count_early_end(const Started& step);
  /// The same for a tool call, which counts as used.
  bool count_early_end(const Started& step, CallFacts call);

  /// Marks the flight of this turn as cancelled, unless the episode has used up cancelled_steps. First: the evaluator's
  /// id, if there is an evaluation to cancel. Second: whether a flight was marked.
  Result<std::pair<std::optional<std::uint64_t>, bool>> cancel(const Caller& caller,
                                                               std::uint64_t id, std::int64_t turn);
  /// The steps that leave() cancelled.
  struct Left {
    std::size_t steps = 0;
    std::vector<std::uint64_t>
        evaluations;  ///< the evaluator's ids; steps that the evaluator does not have yet are missing
  };
  /// Marks the steps in flight of episodes that belong to one of these connections as cancelled.
  Left leave(const std::set<std::string>& connections);
  /// Removes the episode. Second: the evaluator's id, if a step was in flight; that step is answered
  /// `cancelled`.
  Result<std::pair<Snapshot, std::optional<std::uint64_t>>> close(const Caller& caller,
                                                                  std::uint64_t id);
  /// Moves the episode to this connection.
  Result<Snapshot> resume(const Caller& caller, std::uint64_t id, std::string_view token);
  /// As resume(), but the episode stays with its connection.
  Result<Snapshot> peek(const Caller& caller, std::uint64_t id, std::string_view token);
  void renew(const Caller& caller, std::uint64_t id);
  /// Removes episodes with expired leases. Steps in flight keep their episode. Returns the ids of the removed
  /// ones.
  std::vector<std::uint64_t> reap();
  /// Removes an episode whose reset could not be recorded.
  void drop(std::uint64_t id);

  // With a journal, an idle episode need not be in memory: it is unloaded until the next request about it.

  /// Adds an episode that only the journal holds, with a full lease: when the server starts, or when its end
  /// could not be recorded.
  void add_unloaded(std::uint64_t id, const std::string& client, bool ended,
                    const std::string& connection = {});
  /// Whether the episode is unloaded, so that it must be reloaded first. If it is in memory, it stays there
  /// for resident_s.
  bool is_unloaded(std::uint64_t id);
  /// Adds an episode that was read from the journal. Does nothing if it is not unloaded any more.
  void reload(const Pinned& episode, const std::optional<ResetKey>& key);
  /// Unloads some idle episodes. Called periodically; each call visits a part of them.
  void unload_idle();

  Counts counts() const;
  const EpisodeLimits& limits() const { return limits_; }

 private:
  struct Expiry {
    double at_s;
    std::uint64_t id;
    bool operator>(const Expiry& other) const { return at_s > other.at_s; }
  };
  struct KeyHash {
    std::size_t operator()(const Sha256& key) const;
  };
  struct ResetRecord {
    std::uint64_t id;
    Sha256 body;
  };

  /// The data of an unloaded episode that stays in memory.
  struct Unloaded {
    ClientLoad* load;
    std::string connection;
    double expires_s;
    bool ended;
  };

  double lease_s(bool ended) const;
  void renew_lease(Episode& episode) HONE_REQUIRES(mutex_);
  /// Marks the step in flight as cancelled, and sets `evaluation` if the evaluator has the step. False if no
  /// step is in flight, or if it may not be cancelled any more.
  bool mark_cancelled(Episode& episode, std::optional<std::uint64_t>& evaluation) const
      HONE_REQUIRES(mutex_);
  Result<Pinned> owned(const Caller& caller, std::uint64_t id) HONE_REQUIRES(mutex_);
  Result<Pinned> known(const Caller& caller, std::uint64_t id, std::string_view token)
      HONE_REQUIRES(mutex_);
  static Snapshot snapshot(const Pinned& episode);
  std::uint64_t unused_id_locked() const HONE_REQUIRES(mutex_);
  Result<Pinned> find_reset_locked(const ResetKey& key) const HONE_REQUIRES(mutex_);
  Status check_order(const Episode& episode, const Flight& flight) const HONE_REQUIRES(mutex_);
  Status check_bytes(const Caller& caller) const HONE_REQUIRES(mutex_);
  void keep(Episode& episode, std::size_t bytes) HONE_REQUIRES(mutex_);
  void erase(const Pinned& episode) HONE_REQUIRES(mutex_);
  void forget_bytes(const Episode& episode) HONE_REQUIRES(mutex_);
  void uncount(ClientLoad* load, bool ended) HONE_REQUIRES(mutex_);
  void forget_if_idle(ClientLoad* load) HONE_REQUIRES(mutex_);
  std::vector<Waiter> take_waiters(const Started& step) HONE_REQUIRES(mutex_);

  const EpisodeLimits limits_;
  const std::function<double()> now_s_;
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, Pinned> episodes_ HONE_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Unloaded> unloaded_ HONE_GUARDED_BY(mutex_);
  std::size_t next_bucket_ HONE_GUARDED_BY(mutex_) = 0;  ///< where the next unload_idle() begins
  std::map<std::string, ClientLoad, std::less<>> clients_ HONE_GUARDED_BY(mutex_);
  std::unordered_map<Sha256, ResetRecord, KeyHash> resets_ HONE_GUARDED_BY(mutex_);
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_
      HONE_GUARDED_BY(mutex_);
  std::size_t open_ HONE_GUARDED_BY(mutex_) = 0;
  std::size_t steps_ HONE_GUARDED_BY(mutex_) = 0;
  std::size_t history_bytes_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
