// EpisodeService: all verbs about tasks and episodes, without a transport. The server and tests call it.
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

/// Quotas of one client. 0: the default of the service.
struct Quotas {
  std::size_t episodes = 0;  ///< open episodes
  std::size_t steps = 0;     ///< steps in flight
  std::size_t bytes = 0;     ///< bytes of stored replies
};

/// The sender of a request.
struct Caller {
  std::string
      connection;  ///< the current connection; an episode belongs to a connection until it is resumed on another one
  std::string client;  ///< the client's name, for quotas, fairness and logs
  /// The request came through the control endpoint. A client has another connection there, so the random name
  /// of an episode is sufficient to cancel its step and to renew it.
  bool control = false;
  /// The transport has authenticated the name. Only this client may use its episodes, with or without a token.
  bool proven = false;
  bool held_out = false;  ///< may use tasks of the split held_out
  Quotas quotas{};
};

/// [any thread] Requests and replies are the bodies of docs/protocol.md. A reply is final: a repeated request
/// gets the same bytes. Callbacks may come during the call, or later from another thread; `reply` is called
/// exactly once.
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
  /// Creates an episode that begins with the first turns of another one.
  virtual void branch(const Caller& caller, const Value& request, Reply reply) = 0;
  /// Cancels a step in flight. The step is answered `cancelled`, and its turn stays open.
  virtual Result<Value> cancel(const Caller& caller, const Value& request) = 0;
  /// With a journal, the reply is sent once the end is on disk, as for a step.
  virtual void close(const Caller& caller, const Value& request, Reply reply) = 0;
  virtual Result<Value> resume(const Caller& caller, const Value& request) = 0;
  /// Renews the leases of these episodes, as every request about an episode does.
  virtual void renew(const Caller& caller, const std::vector<std::string>& episodes) = 0;
  /// Cancels the steps of episodes that belong to one of these lost connections. Their turns stay open.
  /// Returns the number of cancelled steps.
  virtual std::size_t leave(const std::set<std::string>& connections) = 0;
  /// Closes episodes whose leases have expired. Call it periodically. Returns the number of closed episodes.
  virtual std::size_t reap() = 0;
  /// Counters for `metrics`.
  virtual Value stats() const = 0;
  /// For hello: {"environments": [...], "backends": [...], "isolation": str, "fingerprint": str,
  /// "lease_s": float}.
  virtual Value capabilities() const = 0;
  /// Steps in flight. At zero a graceful shutdown may end.
  virtual std::size_t pending() const = 0;
  /// Refuses every further reset and step with `unavailable`. With a journal, steps that wait in the queue end
  /// with it as well, because the next server does them.
  virtual void refuse_new_work() = 0;
};

}  // namespace hone
