// EpisodeTable: every open episode, who owns it, until when, and what is under way. One lock, never
// held over a call out.
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
  double lease_s = 900;    ///< idle time after which an episode is closed
  double resident_s = 60;  ///< idle time after which a journalled episode leaves memory
  double ended_lease_s =
      120;  ///< idle time after the last turn, so that a client can ask again for a lost reply
  std::size_t episodes = 200'000;          ///< stored episodes of all clients, including ended ones
  std::size_t client_episodes = 100'000;   ///< open episodes of one client
  std::size_t client_steps = 1024;         ///< steps in flight of one client
  std::size_t client_bytes = 16ull << 30;  ///< stored replies of one client
};

/// not_found, with all that it may mean.
Error unknown_episode();

/// Theory of operation. An episode is a lease: whoever names it renews it, and a heap of expiry
/// times (which may lie behind the truth, and are then pushed again) finds the ones that ran out
/// without a scan. A step takes three calls: begin() says whether it is a repeat, joins one under
/// way or is new (then it makes the Flight); whatever takes time happens outside; end() or
/// abandon() closes the flight and hands back whom to answer.
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
  struct Joined {};  ///< the waiter waits for a step under way
  struct Started {
    Pinned episode;
    std::shared_ptr<Flight> flight;
  };
  using Begun = std::variant<Body, Joined, Started>;
  struct Snapshot {
    Pinned episode;
    std::vector<TurnFacts> facts;
    std::vector<StoredTurn> turns;
    bool pending = false;
    bool ended = false;
    std::uint64_t fingerprint = 0;
  };
  struct Counts {
    std::size_t episodes = 0, open = 0, asleep = 0, clients = 0, steps = 0;
    std::size_t history_bytes = 0;  ///< of all replies kept
  };

  /// The episode that this key made before; failed_precondition where the request was another one.
  Result<Pinned> find_reset(const ResetKey& key) const;
  /// An id that no episode has.
  std::uint64_t unused_id() const;
  /// Takes a new episode in, and names it unless it has an id. Gives the older one if `key` made one meanwhile.
  /// resource_exhausted over a quota.
  Result<Pinned> insert(const Caller& caller, Pinned episode, const std::optional<ResetKey>& key);

  /// Errors say which turn was found and which expected. `refuse_new`: repeats and joins alone are
  /// let through.
  Result<Begun> begin(const Caller& caller, std::uint64_t id, std::shared_ptr<Flight> flight,
                      Waiter waiter, bool refuse_new);
  /// The evaluator has it under this id. True: it was cancelled meanwhile, the caller cancels the
  /// evaluation.
  bool submitted(const Started& step, std::uint64_t evaluation);
  /// Asked once, when the flight's result is there: whether a cancel (or close) came before it.
  /// From now on a cancel is too late and says so.
  bool settle(const Started& step);
  std::vector<EpisodeService::Progress> watchers(const Started& step) const;
  /// Records the turn. Whoever is returned gets the reply.
  std::vector<Waiter> end(const Started& step, TurnFacts facts, Body reply, bool ended,
                          std::uint64_t fingerprint);
  /// Leaves the turn open. Whoever is returned gets the error.
  std::vector<Waiter> abandon(const Started& step);

  /// Marks the flight of this turn; the evaluator's id if there is one to cancel. Second: whether
  /// anything was marked.
  Result<std::pair<std::optional<std::uint64_t>, bool>> cancel(const Caller& caller,
                                                               std::uint64_t id, std::int64_t turn);
  /// The steps that leave() cancelled.
  struct Left {
    std::size_t steps = 0;
    std::vector<std::uint64_t> evaluations;  ///< the evaluator's ids; it may not have all steps yet
  };
  /// Marks the steps under way of episodes that belong to one of these connections as cancelled.
  Left leave(const std::set<std::string>& connections);
  /// Takes the episode out. The evaluator's id if a step was under way (which is then answered
  /// cancelled).
  Result<std::pair<Snapshot, std::optional<std::uint64_t>>> close(const Caller& caller,
                                                                  std::uint64_t id);
  /// Gives the episode to this connection.
  Result<Snapshot> resume(const Caller& caller, std::uint64_t id, std::string_view token);
  /// The same, and leaves it whose it is.
  Result<Snapshot> look(const Caller& caller, std::uint64_t id, std::string_view token);
  void renew(const Caller& caller, std::uint64_t id);
  /// Ends what ran out; steps under way keep their episode. Returns the names of what went.
  std::vector<std::uint64_t> reap();
  /// Takes out an episode whose reset could not be recorded.
  void drop(std::uint64_t id);

  // Episodes that a journal holds need not be in memory: they are asleep, until somebody names one.

  /// At the start, or when it is not gone after all: this one is there, with a whole lease to go.
  void expect(std::uint64_t id, const std::string& client, bool ended,
              const std::string& connection = {});
  /// True: it sleeps, and has to be woken before anything else. Else, if it is here, it stays for a
  /// while.
  bool sleeps(std::uint64_t id);
  /// Brings it back as it was read from the journal; nothing when it is no longer asleep.
  void wake(const Pinned& episode, const std::optional<ResetKey>& key);
  /// Unloads some idle episodes. Called periodically; each call visits a part of them.
  void doze();

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

  /// What stays in memory of an episode that sleeps.
  struct Asleep {
    ClientLoad* load;
    std::string connection;
    double expires_s;
    bool ended;
  };

  double lease_s(bool ended) const;
  void touch(Episode& episode) HONE_REQUIRES(mutex_);
  /// Marks the step under way as cancelled and sets `evaluation` if the evaluator has the step. False
  /// if no step is under way.
  static bool mark(Episode& episode, std::optional<std::uint64_t>& evaluation);
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
  std::vector<Waiter> land(const Started& step) HONE_REQUIRES(mutex_);

  const EpisodeLimits limits_;
  const std::function<double()> now_s_;
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, Pinned> episodes_ HONE_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Asleep> asleep_ HONE_GUARDED_BY(mutex_);
  std::size_t next_bucket_ HONE_GUARDED_BY(mutex_) = 0;  ///< where doze() goes on
  std::map<std::string, ClientLoad, std::less<>> clients_ HONE_GUARDED_BY(mutex_);
  std::unordered_map<Sha256, ResetRecord, KeyHash> resets_ HONE_GUARDED_BY(mutex_);
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries_
      HONE_GUARDED_BY(mutex_);
  std::size_t open_ HONE_GUARDED_BY(mutex_) = 0;
  std::size_t steps_ HONE_GUARDED_BY(mutex_) = 0;
  std::size_t history_bytes_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
