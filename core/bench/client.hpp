// What the benchmarks of the host share: clients that measure, requests, figures.
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

/// Nothing of it gets in the way of a figure: long queues, no heartbeats.
SocketOptions bench_socket_options();

wire::Frames bench_request(std::string verb, std::int64_t id, Value body);
/// A turn with this source.
wire::Frames bench_step(const Value& episode, std::size_t turn, std::string code);

/// {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}
Value bench_figure(const std::string& name, double value, const char* unit, double baseline,
                   double ratio, double goal);
/// One that is to be at most `most`, and says so.
Value bench_bound(const std::string& name, double value, const char* unit, double baseline,
                  double most);

/// One DEALER; requests go out in the order given, `window` at a time.
class BenchClient {
 public:
  explicit BenchClient(const std::string& endpoint,
                       const SocketOptions& options = bench_socket_options());

  /// Seconds from the first request to the last reply; `latencies_s`, if given, gets one for each.
  Result<double> run(const std::vector<wire::Frames>& requests, std::size_t window,
                     std::vector<double>* latencies_s = nullptr);
  /// One request, its reply's body.
  Result<std::string> ask(const wire::Frames& request);

 private:
  SocketContext context_;
  Socket socket_;
  Status connected_;
  wire::Frames reply_;
};

/// Many DEALERs over one context, each with one request at a time: the next goes out when the reply
/// is there.
class BenchCrowd {
 public:
  /// What one of them asks, in order.
  using Requests = std::vector<wire::Frames>;

  BenchCrowd(const std::string& endpoint, std::size_t clients);

  std::size_t size() const { return sockets_.size(); }
  /// Every client opens `episodes` of `task`: their names, a list for each client.
  Result<std::vector<std::vector<Value>>> open(const std::string& task, std::size_t episodes);
  Status close(const std::vector<std::vector<Value>>& episodes);
  /// `requests`: a list for each client. Seconds from the first request to the last reply.
  Result<double> run(const std::vector<Requests>& requests,
                     std::vector<double>* latencies_s = nullptr);

 private:
  struct Turn;
  Status send_next(Turn& turn);
  Status take(Turn& turn, std::vector<double>* latencies_s, std::size_t& left);

  SocketContext context_;
  std::vector<Socket> sockets_;
  Status connected_;
  std::vector<std::string> bodies_;  ///< each client's last reply
};

}  // namespace hone
