// Socket: ROUTER and DEALER sockets over frames. ZeroMQ stays behind this header.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wire/key_file.hpp"
#include "wire/message.hpp"

namespace hone {

/// A ZeroMQ context. It must not cross fork() and must outlive its sockets. Its destructor waits until the sockets' queues are sent, at most their linger. [any thread]
class SocketContext {
 public:
  SocketContext();
  ~SocketContext();
  SocketContext(const SocketContext&) = delete;
  SocketContext& operator=(const SocketContext&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Whether this build of ZeroMQ supports CURVE.
bool curve_available();
/// Creates a key pair. unimplemented: no CURVE.
Result<wire::KeyPair> make_key_pair();
/// invalid_argument: the public key does not belong to the secret key.
Status check_key_pair(const wire::KeyPair& pair);
/// 32 bytes as the 40 characters of a key; anything else as "".
std::string key_text(std::string_view bytes);

/// Options that are set before bind or connect, as ZeroMQ requires.
struct SocketOptions {
  std::size_t frame_bytes_max = 4u << 20;  ///< a peer that sends a larger frame is disconnected
  int hwm = 256;  ///< messages queued per peer and direction; never 0 (no limit)
  int linger_ms = 2000;
  double heartbeat_s = 10;   ///< a peer silent for three of them is disconnected; 0: none
  int handshake_ms = 5000;   ///< time limit of a handshake
  int backlog = 4096;        ///< router: connections that wait to be accepted
  std::string routing_id{};  ///< dealer: an identity of its own; empty, as it should be: ZeroMQ's
  /// Router: the server's pair; every connection is encrypted, and asked about at kZapEndpoint.
  /// Dealer: the client's pair, with the server's public key.
  std::optional<wire::KeyPair> curve{};
};

/// Endpoint of the ZAP handler (RFC 27), which ZeroMQ asks about each key. Rationale: libzmq accepts every key while no handler is bound, so it is bound before the first router and closed after the last.
inline constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";

/// An event of a router's connection.
struct ConnectionEvent {
  enum Kind { kAccepted, kGone, kHandshakeFailed, kOther };
  Kind kind = kOther;
  int descriptor = -1;     ///< of kAccepted and kGone
  std::string endpoint{};  ///< its own end
};

/// One socket. Not thread-safe, except that it may be handed to another thread once.
///
///   SocketContext context;
///   auto router = Socket::router(context, {});
///   HONE_ASSIGN(std::string endpoint, router.bind("tcp://127.0.0.1:*"));
class Socket {
 public:
  enum class Sent { kYes, kFull, kGone };

  static Socket router(SocketContext& context, const SocketOptions& options);
  static Socket dealer(SocketContext& context, const SocketOptions& options);
  /// Answers requests in turn: receive(frames, …), then send(frames).
  static Result<Socket> replier(SocketContext& context, const std::string& endpoint);
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  ~Socket();

  /// Gives the endpoint with its port filled in. invalid_argument: malformed; unavailable: in use.
  Result<std::string> bind(const std::string& endpoint);
  Status connect(const std::string& endpoint);

  /// Router: receives one message from `peer`. Keeps at most `frames_max` frames and `bytes_max` bytes of it, but reads it to its end. `user` becomes the user id from ZAP; "" without CURVE. False if there is no message. Never waits.
  bool receive(std::string& peer, wire::Incoming& message, std::size_t frames_max,
               std::size_t bytes_max, std::string& user);
  /// Router: never waits. kFull: the peer does not read; kGone: it is not connected. Moves from the frames only if the result is kYes.
  Sent send(const std::string& peer, wire::Frames& frames);

  /// Dealer. Without waiting: kFull when the queue is full.
  Sent send(const wire::Frames& frames);
  /// Dealer. Waits up to timeout_ms (< 0: for ever) for a message; false: none came.
  bool receive(wire::Frames& frames, long timeout_ms);

  /// Router, before bind: a socket with the events of its connections. Another thread may read them with next_event().
  Result<Socket> watch(SocketContext& context);
  /// Never waits; nullopt: no event.
  std::optional<ConnectionEvent> next_event();

  /// Router: the baseline of `hone bench protocol`, plain ZeroMQ. Sends
  /// each message back with its fourth frame replaced by `body`, until one of a single frame comes.
  /// Waits.
  void echo(const std::string& body);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  explicit Socket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Waits until one of the sockets can be read, `fd` (< 0: none) is readable or timeout_ms (< 0: no
/// end) went by. A signal ends the wait too.
void wait_readable(const std::vector<Socket*>& sockets, int fd, long timeout_ms);

}  // namespace hone
