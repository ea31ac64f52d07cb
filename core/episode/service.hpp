// EpisodeService: every verb that concerns tasks and episodes, without a transport. The server
// calls it; tests do too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// What one client may have at a time. 0: what the service allows every client.
struct Quotas {
  std::size_t episodes = 0;  ///< open
  std::size_t steps = 0;     ///< being evaluated
  std::size_t bytes = 0;     ///< kept of its episodes
};

/// Who sent a request.
struct Caller {
  std::string
      connection;  ///< the connection now; episodes belong to one until they are resumed on another
  std::string client;  ///< the client's name, for quotas, fairness and logs
  /// It came in by the control endpoint, where a client has another connection and an episode's
  /// name, which is random, is enough to cancel its step and to renew it.
  bool control = false;
  /// The transport has authenticated the name. Only this client may use its episodes, with or without a token.
  bool proven = false;
  bool held_out = false;  ///< may have tasks of the split held_out
  Quotas quotas{};
};

/// [any thread] All members. Requests and replies are the bodies of docs/protocol.md; a reply's
/// bytes are final (a repeated request gets the same bytes). Callbacks may come during the call or
/// later from another thread, `reply` exactly once.
class EpisodeService {
 public:
  using Reply =
      std::function<void(Result<std::string> body)>;  ///< MessagePack of the result's body
  using Progress = std::function<void(Value body)>;   ///< {"stage": "building"}, …

  virtual ~EpisodeService() = default;

  virtual Result<Value> describe(const Caller& caller, const Value& request) = 0;
  virtual void reset(const Caller& caller, const Value& request, Reply reply) = 0;
  virtual void step(const Caller& caller, const Value& request, double deadline_s,
                    Progress progress, Reply reply) = 0;
  /// A new episode that shares the turns of another up to one of them.
  virtual void branch(const Caller& caller, const Value& request, Reply reply) = 0;
  /// Ends a step that is being evaluated; the step is answered `cancelled` and its turn stays open.
  virtual Result<Value> cancel(const Caller& caller, const Value& request) = 0;
  /// With a journal it is answered, as a step is, once it is on the disk.
  virtual void close(const Caller& caller, const Value& request, Reply reply) = 0;
  virtual Result<Value> resume(const Caller& caller, const Value& request) = 0;
  /// Renews the leases of these episodes, as every message that names one does.
  virtual void renew(const Caller& caller, const std::vector<std::string>& episodes) = 0;
  /// Cancels the steps of episodes that still belong to one of these lost connections, and leaves
  /// their turns open. Returns the number of steps.
  virtual std::size_t leave(const std::set<std::string>& connections) = 0;
  /// Ends leases that ran out. Called now and then; returns how many episodes it reaped.
  virtual std::size_t reap() = 0;
  /// Counters for `metrics`.
  virtual Value stats() const = 0;
  /// For hello: {"environments": [...], "backends": [...], "isolation": str, "fingerprint": str,
  /// "lease_s": float}.
  virtual Value capabilities() const = 0;
  /// Steps under way. At zero a graceful shutdown may end.
  virtual std::size_t pending() const = 0;
  /// From now on every reset and step is refused with `unavailable`.
  virtual void refuse_new_work() = 0;
};

}  // namespace hone
