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

/// A ZeroMQ context. Never crosses fork(); sockets must be gone before it goes, and its end waits
/// until what they still had to send is sent, at most their linger. Any thread.
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

/// Whether this build of ZeroMQ can do CURVE.
bool curve_available();
/// A fresh pair. unimplemented where CURVE is not available.
Result<wire::KeyPair> make_key_pair();
/// invalid_argument where the public key is not the secret key's.
Status check_key_pair(const wire::KeyPair& pair);
/// 32 bytes as the 40 characters of a key; anything else as "".
std::string key_text(std::string_view bytes);

/// All of them are set before bind or connect, as ZeroMQ wants it.
struct SocketOptions {
  std::size_t frame_bytes_max = 4u << 20;  ///< a peer that sends a larger frame is disconnected
  int hwm = 256;  ///< messages queued per peer and direction; never 0 (no limit)
  int linger_ms = 2000;
  double heartbeat_s = 10;   ///< a peer silent for three of them is disconnected; 0: none
  int handshake_ms = 5000;   ///< a connection that is not through with its handshake is closed
  int backlog = 4096;        ///< router: connections that wait to be accepted
  std::string routing_id{};  ///< dealer: an identity of its own; empty, as it should be: ZeroMQ's
  /// Router: the server's pair; every connection is encrypted, and asked about at kZapEndpoint.
  /// Dealer: the client's pair, with the server's public key.
  std::optional<wire::KeyPair> curve{};
};

/// Where ZeroMQ asks whether a key may come in (ZAP, RFC 27). Rationale: libzmq lets everybody in
/// where nobody answers there, so it is bound before any router and closed after the last.
inline constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";

/// What happened to a connection of a router.
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

  /// Router: takes one message, `peer` being its sender. Keeps at most `frames_max` frames and
  /// `bytes_max` bytes of it, but reads it to its end. `user` becomes what ZAP called the sender, "" without
  /// CURVE. False: nothing there. Never waits.
  bool receive(std::string& peer, wire::Incoming& message, std::size_t frames_max,
               std::size_t bytes_max, std::string& user);
  /// Router: never waits. kFull: the peer does not read; kGone: it is no longer connected. The
  /// frames are moved from only when the answer is kYes.
  Sent send(const std::string& peer, wire::Frames& frames);

  /// Dealer. Without waiting: kFull when the queue is full.
  Sent send(const wire::Frames& frames);
  /// Dealer. Waits up to timeout_ms (< 0: for ever) for a message; false: none came.
  bool receive(wire::Frames& frames, long timeout_ms);

  /// Router, before bind: a socket with what happens to its connections, which another thread may
  /// read by next_event().
  Result<Socket> watch(SocketContext& context);
  /// Never waits; nullopt: nothing more.
  std::optional<ConnectionEvent> next_event();

  /// Router: the yardstick of `hone bench protocol`, plain ZeroMQ with nothing around it. Sends
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
