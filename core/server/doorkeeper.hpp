// Doorkeeper: authenticates connections (ZAP), and limits connections without a handshake.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "server/allow_list.hpp"
#include "server/socket.hpp"
#include "server/strangers.hpp"

namespace hone {

/// Owns one thread, the ZAP socket and the watches over the routers' connections.
///
/// Theory of operation: created before the routers, because libzmq accepts every key while no ZAP handler is bound; watch() for each router before it is bound, then start(). With CURVE, libzmq asks for
/// each new connection once its key is proven; the allow-list is read each time, so a revoked key is refused at once. The user id of each message is the key, by which the client's name is found. It must outlive the routers.
class Doorkeeper {
 public:
  /// Counters since the start, and open connections.
  struct Counts {
    std::uint64_t admitted = 0;           ///< connections whose key is in the allow-list
    std::uint64_t keys_refused = 0;       ///< connections with an unknown or revoked key
    std::uint64_t handshakes_failed = 0;  ///< no CURVE, the wrong server key, garbage, too slow
    std::uint64_t hung_up = 0;            ///< closed: silent, or too many
    std::uint64_t open = 0;               ///< open connections, including those without a handshake
    std::uint64_t disconnected = 0;       ///< connections that ended
  };

  /// Without CURVE, `allowed` is null: connections are limited, but not authenticated.
  static Result<std::unique_ptr<Doorkeeper>> create(SocketContext& context,
                                                    std::shared_ptr<AllowList> allowed,
                                                    Strangers::Limits limits);
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  Status watch(SocketContext& context, Socket& router);
  void start();
  void stop();
  Counts counts() const;  ///< [any thread]
  /// [any thread] Whether too many connections are open to serve a new one.
  bool full() const { return open_ > served_max_; }
  /// "114 (with 256 open files)"
  std::string limit_text() const;

 private:
  Doorkeeper(std::shared_ptr<AllowList> allowed, Strangers::Limits limits);
  void run();
  void answer(const wire::Frames& question);
  void note(const ConnectionEvent& event);
  void hang_up(int descriptor, const std::string& endpoint);

  const std::shared_ptr<AllowList> allowed_;
  UniqueFd wake_;
  std::unique_ptr<Socket> zap_;  // null without CURVE
  std::vector<Socket> watches_;
  Strangers strangers_;
  const std::size_t served_max_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> admitted_{0}, keys_refused_{0}, handshakes_failed_{0}, hung_up_{0},
      open_{0}, disconnected_{0};
  std::int64_t logged_ns_ = 0;      // time of the last logged refusal
  std::uint64_t logged_count_ = 0;  // refusals up to that time
  std::thread thread_;
};

}  // namespace hone
