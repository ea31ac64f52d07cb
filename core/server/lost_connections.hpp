// LostConnections: cancels the steps of connections that have ended.
#pragma once

#include <cstdint>
#include <memory>

#include "base/worker_pool.hpp"
#include "episode/service.hpp"
#include "server/doors.hpp"
#include "server/options.hpp"
#include "server/server_status.hpp"

namespace hone {

/// Belongs to the I/O thread.
///
/// Rationale: ZeroMQ reports the end of a connection, but not its routing id. A message to it fails, however. So after each report, the server repeats the progress message to each client with a step in flight. It does so for a while, because the report may come before ZeroMQ refuses messages.
class LostConnections {
 public:
  LostConnections(const ServerOptions& options, EpisodeService& service, Doors& doors,
                  ServerStatus& status, WorkerPool& workers);

  /// Cancels steps after the grace time. Called every reap interval.
  void drop_steps(std::int64_t now_ns);

 private:
  bool is_probing(std::int64_t now_ns);
  void probe(const std::shared_ptr<Peer>& peer);

  const ServerOptions& options_;
  EpisodeService& service_;
  Doors& doors_;
  ServerStatus& status_;
  WorkerPool& workers_;
  std::uint64_t disconnected_count_ = 0;  // last value of the doorkeeper's counter
  std::int64_t probe_until_ns_ = 0;
};

}  // namespace hone
