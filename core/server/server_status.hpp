// ServerStatus: the replies to hello, ping, metrics and health.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "episode/service.hpp"
#include "server/doors.hpp"
#include "server/metrics.hpp"
#include "server/options.hpp"
#include "server/shutdown.hpp"

namespace hone {

/// Belongs to the I/O thread, but for check_problems() and the counts.
class ServerStatus {
 public:
  ServerStatus(const ServerOptions& options, EpisodeService& service, const Doors& doors,
               Metrics& metrics, const Shutdown& shutdown, std::function<Gauges()> gauges);

  Result<Value> hello(Peer& peer, const Value& body);
  Value pong() const;
  Result<Value> metrics(const Value& body);
  Result<Value> health(const Value& body);

  /// [any thread] Asks the service for its problems, and logs new ones.
  void check_problems();
  /// [any thread]
  void count_reaped(std::uint64_t episodes) { reaped_ += episodes; }
  void count_steps_dropped(std::uint64_t steps) { steps_dropped_ += steps; }

 private:
  const ServerOptions& options_;
  EpisodeService& service_;
  const Doors& doors_;
  Metrics& metrics_;
  const Shutdown& shutdown_;
  const std::function<Gauges()> gauges_;
  Mutex mutex_;
  ServerProblems problems_ HONE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> reaped_{0};
  std::atomic<std::uint64_t> steps_dropped_{0};
};

}  // namespace hone
