// IoLoop: the server's I/O thread. It owns the parts that serve requests, and calls them in order.
//
//   Doors ──message──► Admission ──request──► Dispatcher ──► EpisodeService
//     ▲                                                          │ any thread
//     └───────────────────── Replies ◄────── EventQueue ◄────────┘
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/worker_pool.hpp"
#include "episode/service.hpp"
#include "server/admission.hpp"
#include "server/dispatcher.hpp"
#include "server/doors.hpp"
#include "server/event_queue.hpp"
#include "server/in_flight.hpp"
#include "server/lost_connections.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/replies.hpp"
#include "server/server_status.hpp"
#include "server/shutdown.hpp"

namespace hone {

/// Everything but drain() and reload_keys() belongs to the thread that calls run().
class IoLoop {
 public:
  static Result<std::unique_ptr<IoLoop>> open(ServerOptions options, EpisodeService& service,
                                              SocketContext& context);

  /// Returns when drain() is complete, and closes the sockets.
  void run();
  /// [any thread] Starts the shutdown, which ends at the limit (monotonic nanoseconds).
  void drain(std::int64_t limit_ns);
  /// [any thread] Reads the allow-list again, even if the file seems unchanged.
  void reload_keys();

  const Doors& doors() const { return doors_; }
  bool clean() const { return clean_; }  ///< after run(): no request was aborted

 private:
  IoLoop(ServerOptions options, EpisodeService& service, std::shared_ptr<EventQueue> events);
  std::size_t read(Peers& peers);
  long wait_ms(std::int64_t now_ns) const;
  void keep_time(std::int64_t now_ns);
  void start_draining();
  bool drained(std::int64_t now_ns, bool idle);
  void abort_requests();
  void flush_at_end();
  Gauges gauges() const;
  std::int64_t retry_after_ms() const;

  const ServerOptions options_;
  EpisodeService& service_;
  const std::int64_t started_ns_;
  const std::shared_ptr<EventQueue> events_;
  Metrics metrics_;
  Shutdown shutdown_;
  Doors doors_;
  RequestsInFlight requests_;
  Replies replies_;
  ServerStatus status_;
  Admission admission_;
  Dispatcher dispatcher_;
  LostConnections lost_;
  std::int64_t reap_at_ns_ = 0;
  std::atomic<bool> reaping_{false}, reload_{false};
  bool clean_ = true;
  WorkerPool workers_;  // last, because its jobs use the members above
};

}  // namespace hone
