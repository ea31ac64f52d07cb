// Doorkeeper: answers ZeroMQ's question who may come in, and limits what strangers cost.
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
/// Theory of operation: made before the routers, because libzmq lets everybody in where nobody
/// answers ZAP; watch() for each router before it is bound, then start(). With CURVE, libzmq asks for
/// each new connection once its key is proven; the allow-list is looked at anew each time, so a
/// revoked key is refused at once. The name that a key has is found again by every message's user
/// id, which is the key. Ends after the routers.
class Doorkeeper {
 public:
  /// What came to nothing, ever.
  struct Counts {
    std::uint64_t admitted = 0;           ///< connections whose key is in the allow-list
    std::uint64_t keys_refused = 0;       ///< a key that is not, or not any more
    std::uint64_t handshakes_failed = 0;  ///< no CURVE, the wrong server key, garbage, too slow
    std::uint64_t hung_up = 0;            ///< silent or too many
    std::uint64_t open = 0;               ///< connections now, those of strangers included
    std::uint64_t departed = 0;           ///< connections that ended, ever
  };

  /// `allowed` is null where there is no CURVE: then connections are limited, and nobody is asked.
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
      open_{0}, departed_{0};
  std::int64_t said_ns_ = 0;      // when a refusal was last put into the log
  std::uint64_t said_count_ = 0;  // how many there were by then
  std::thread thread_;
};

}  // namespace hone
