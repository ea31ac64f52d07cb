// IoLoop: the server's I/O thread. Reads, dispatches, sends, and handles timeouts.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/worker_pool.hpp"
#include "episode/service.hpp"
#include "server/allow_list.hpp"
#include "server/doorkeeper.hpp"
#include "server/event_queue.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/peers.hpp"
#include "server/socket.hpp"

namespace hone {

/// Everything but drain() belongs to the thread that calls run().
class IoLoop {
 public:
  static Result<std::unique_ptr<IoLoop>> open(ServerOptions options, EpisodeService& service,
                                              SocketContext& context);

  /// Returns when drain() is complete, and closes the sockets.
  void run();
  /// [any thread] Starts the shutdown, which ends at the limit (monotonic nanoseconds).
  void drain(std::int64_t limit_ns);

  const std::string& endpoint() const { return endpoint_; }
  const std::string& control_endpoint() const { return control_endpoint_; }
  const std::string& incarnation() const { return incarnation_; }
  std::string server_key() const { return server_key_; }  ///< its public key; empty: no CURVE
  bool clean() const { return clean_; }                   ///< after run(): no request was aborted

 private:
  friend std::span<const VerbRow> verb_rows();  // its handlers are members
  struct Overdue {
    std::weak_ptr<Peer> peer;
    std::int64_t id = 0;
  };

  IoLoop(ServerOptions options, EpisodeService& service, std::shared_ptr<EventQueue> events);
  Status listen(SocketContext& context);

  // io_loop.cpp: messages and time
  std::size_t read(Peers& peers, std::size_t messages_max);
  void take_events();
  long wait_ms(std::int64_t now_ns) const;
  void keep_time(std::int64_t now_ns);
  void check_health();
  void drop_steps_of_disconnected(std::int64_t now_ns);
  void probe(const std::shared_ptr<Peer>& peer);
  void start_draining();
  bool drained(std::int64_t now_ns, bool idle);
  void abort_requests();
  void flush_at_end();

  // dispatch.cpp: requests and their ends
  void refresh_allow_list();
  void handle(Peers& peers, const std::string& routing_id, const std::string& key,
              wire::Incoming message);
  void turn_away(Peers& peers, const std::string& routing_id, wire::Incoming message, bool full);
  static Status permitted(const Peer& peer, Verb verb);
  void refuse_revoked(Peers& peers, Peer& peer,
                      const std::variant<wire::Request, wire::Refusal>& message);
  void admit(Peers& peers, const std::shared_ptr<Peer>& peer, wire::Request request);
  void serve(VerbCall call);
  void serve_step(VerbCall call);
  void serve_by_worker(VerbCall call, const OnWorker& worker);
  Result<Value> hello(const VerbCall& call);
  Result<Value> ping(const VerbCall& call);
  Result<Value> metrics(const VerbCall& call);
  Result<Value> health(const VerbCall& call);
  void handle_event(Event event);
  void finish(const std::shared_ptr<Peer>& peer, std::int64_t id, std::uint64_t serial,
              Result<std::string> body);
  void refuse(const std::shared_ptr<Peer>& peer, std::int64_t id, std::string verb,
              const Error& error);
  EpisodeService::Reply reply_to(const VerbCall& call) const;
  EpisodeService::Progress progress_of(const VerbCall& call) const;
  void end_overdue(std::int64_t now_ns);
  std::string packed_error(const Error& error) const;
  std::int64_t retry_after_ms() const;
  Gauges gauges() const;
  Peers& peers_of(const Peer& peer) { return peer.door == Door::kMain ? *main_ : *control_; }

  const ServerOptions options_;
  EpisodeService& service_;
  const std::string incarnation_;
  const std::int64_t started_ns_;
  std::string endpoint_, control_endpoint_;
  std::string server_key_;
  Metrics metrics_;
  std::shared_ptr<AllowList> allowed_;  // null: no CURVE
  std::uint64_t allowed_generation_ = 0;
  std::unique_ptr<Doorkeeper> keeper_;     // goes after the sockets
  std::unique_ptr<Peers> main_, control_;  // control_: null when there is none
  const std::shared_ptr<EventQueue> events_;
  std::vector<Event> taken_;
  std::uint64_t serials_ = 0;
  std::size_t in_flight_ = 0;
  std::int64_t full_logged_ns_ = 0;  // time of the last logged message that the server is full
  // By deadline and serial; a completed request is removed.
  std::map<std::pair<std::int64_t, std::uint64_t>, Overdue> overdue_;
  std::int64_t reap_at_ns_ = 0;
  std::atomic<bool> reaping_{false};
  Mutex problems_mutex_;
  std::vector<std::string> problems_ HONE_GUARDED_BY(problems_mutex_);
  std::atomic<std::uint64_t> reaped_{0};
  std::uint64_t disconnected_count_ = 0;  // last value of the doorkeeper's counter
  std::int64_t probe_until_ns_ = 0;
  std::atomic<std::uint64_t> steps_dropped_{0};

  std::atomic<std::int64_t> drain_limit_ns_{0};  // 0: no shutdown
  bool draining_ = false;
  std::int64_t draining_since_ns_ = 0;
  bool clean_ = true;
  WorkerPool workers_;  // last, because its jobs use the members above
};

}  // namespace hone
