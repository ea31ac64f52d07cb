// Shared by the benchmarks of the host: clients that measure, requests, figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "server/socket.hpp"
#include "wire/message.hpp"

namespace hone {

/// Server options that do not limit the figures: long queues, no heartbeats.
SocketOptions bench_socket_options();

wire::Frames bench_request(std::string verb, std::int64_t id, Value body);
/// The action of a turn with this source.
wire::Frames bench_step(const Value& episode, std::size_t turn, std::string code);

/// {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}
Value bench_figure(const std::string& name, double value, const char* unit, double baseline,
                   double ratio, double goal);
/// A figure with the goal to be at most `most`.
Value bench_bound(const std::string& name, double value, const char* unit, double baseline,
                  double most);

/// A client with one DEALER socket. Requests are sent in the given order, with at most `window` in flight.
class BenchClient {
 public:
  explicit BenchClient(const std::string& endpoint,
                       const SocketOptions& options = bench_socket_options());

  /// Returns seconds from the first request to the last reply. `latencies_s`, if given, gets the time of each
  /// request.
  Result<double> run(const std::vector<wire::Frames>& requests, std::size_t window,
                     std::vector<double>* latencies_s = nullptr);
  /// Sends one request and returns the body of its reply.
  Result<std::string> ask(const wire::Frames& request);

 private:
  SocketContext context_;
  Socket socket_;
  Status connected_;
  wire::Frames reply_;
};

/// Many DEALER sockets in one context, each with one request in flight.
class BenchCrowd {
 public:
  /// The requests of one client, in order.
  using Requests = std::vector<wire::Frames>;

  BenchCrowd(const std::string& endpoint, std::size_t clients);

  std::size_t size() const { return sockets_.size(); }
  /// Opens `episodes` episodes of `task` for each client. Returns their names, a list for each client.
  Result<std::vector<std::vector<Value>>> open(const std::string& task, std::size_t episodes);
  Status close(const std::vector<std::vector<Value>>& episodes);
  /// `requests`: a list for each client. Returns seconds from the first request to the last reply. `unscored`, if given, is
  /// increased by the number of steps without a reward.
  Result<double> run(const std::vector<Requests>& requests,
                     std::vector<double>* latencies_s = nullptr, std::size_t* unscored = nullptr);

 private:
  struct Turn;
  Status send_next(Turn& turn);
  Status take(Turn& turn, std::vector<double>* latencies_s, std::size_t* unscored,
              std::size_t& left);

  SocketContext context_;
  std::vector<Socket> sockets_;
  Status connected_;
  std::vector<std::string> bodies_;  ///< each client's last reply
};

}  // namespace hone
