// The one file of the server that includes ZeroMQ.
// Rationale: ROUTER_MANDATORY and DONTWAIT are both needed. Without the first, a reply to a closed connection is lost silently. Without the second, one peer that does not read blocks the socket for all.
#include "server/socket.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <zmq.hpp>

#include "base/assert.hpp"

namespace hone {

struct SocketContext::Impl {
  zmq::context_t context{1};
};

SocketContext::SocketContext() : impl_(std::make_unique<Impl>()) {}
SocketContext::~SocketContext() = default;

struct Socket::Impl {
  zmq::socket_t socket;
  bool curve = false;
};

namespace {

// Frames from this size are passed to ZeroMQ without a copy; smaller ones are cheaper to copy.
constexpr std::size_t kZeroCopyBytes = 16u << 10;

void set_common(zmq::socket_t& socket, const SocketOptions& options) {
  HONE_ASSERT(options.hwm > 0);
  socket.set(zmq::sockopt::sndhwm, options.hwm);
  socket.set(zmq::sockopt::rcvhwm, options.hwm);
  socket.set(zmq::sockopt::linger, options.linger_ms);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.frame_bytes_max));
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 30);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
  if (options.heartbeat_s > 0) {
    const int beat_ms = static_cast<int>(options.heartbeat_s * 1000);
    socket.set(zmq::sockopt::heartbeat_ivl, beat_ms);
    socket.set(zmq::sockopt::heartbeat_timeout, 3 * beat_ms);
    socket.set(zmq::sockopt::heartbeat_ttl, 3 * beat_ms);
  }
  socket.set(zmq::sockopt::handshake_ivl, options.handshake_ms);
}

std::string monitor_address() {
  static std::atomic<std::uint64_t> counter{0};
  return "inproc://hone-watch-" + std::to_string(++counter);
}

/// The user id that ZAP gave the connection of this message.
void read_user(zmq::message_t& part, std::string& user) {
  const char* found = zmq_msg_gets(part.handle(), "User-Id");
  user.assign(found == nullptr ? "" : found);
}

/// A frame that ZeroMQ's thread deletes. The atomic flag expresses the order that ZeroMQ's queue guarantees, so that the thread sanitizer sees it.
struct HandedOver {
  std::string bytes;
  std::atomic<bool> written{false};
};

zmq::message_t to_message(std::string& frame) {
  if (frame.size() < kZeroCopyBytes) return zmq::message_t(frame.data(), frame.size());
  auto* owned = new HandedOver{std::move(frame), {}};
  owned->written.store(true, std::memory_order_release);
  return zmq::message_t(
      owned->bytes.data(), owned->bytes.size(),
      [](void*, void* hint) {
        auto* bytes = static_cast<HandedOver*>(hint);
        if (bytes->written.load(std::memory_order_acquire)) delete bytes;
      },
      owned);
}

/// Sends frames[first…]. If ZeroMQ accepted the first part, it accepts the whole message.
void send_rest(zmq::socket_t& socket, wire::Frames& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    static_cast<void>(socket.send(to_message(frames[i]), more | zmq::send_flags::dontwait));
  }
}

}  // namespace

Socket::Socket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

Socket Socket::router(SocketContext& context, const SocketOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::router);
  set_common(impl->socket, options);
  impl->socket.set(zmq::sockopt::router_mandatory, true);
  impl->socket.set(zmq::sockopt::backlog, options.backlog);
  if (options.curve) {
    impl->curve = true;
    impl->socket.set(zmq::sockopt::curve_server, true);
    impl->socket.set(zmq::sockopt::curve_secretkey, options.curve->secret_key);
    impl->socket.set(zmq::sockopt::zap_domain, std::string("hone"));
  }
  return Socket(std::move(impl));
}

Socket Socket::dealer(SocketContext& context, const SocketOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::dealer);
  set_common(impl->socket, options);
  if (!options.routing_id.empty()) impl->socket.set(zmq::sockopt::routing_id, options.routing_id);
  if (options.curve) {
    impl->socket.set(zmq::sockopt::curve_serverkey, options.curve->server_key);
    impl->socket.set(zmq::sockopt::curve_publickey, options.curve->public_key);
    impl->socket.set(zmq::sockopt::curve_secretkey, options.curve->secret_key);
  }
  return Socket(std::move(impl));
}

Result<Socket> Socket::replier(SocketContext& context, const std::string& endpoint) {
  try {
    auto impl = std::make_unique<Impl>();
    impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::rep);
    impl->socket.set(zmq::sockopt::linger, 0);
    impl->socket.bind(endpoint);
    return Socket(std::move(impl));
  } catch (const zmq::error_t& error) {
    return unavailable("listen on " + endpoint + ": " + error.what());
  }
}

bool curve_available() { return zmq_has("curve") == 1; }

Result<wire::KeyPair> make_key_pair() {
  char public_key[41], secret_key[41];
  if (!curve_available() || zmq_curve_keypair(public_key, secret_key) != 0) {
    return Error{
        Code::kUnimplemented,
        "libzmq was built without CURVE, which keys need; install a libzmq with libsodium"};
  }
  return wire::KeyPair{public_key, secret_key};
}

Status check_key_pair(const wire::KeyPair& pair) {
  char public_key[41];
  if (zmq_curve_public(public_key, pair.secret_key.c_str()) != 0 || pair.public_key != public_key) {
    return invalid_argument("the public key does not belong to the secret key");
  }
  return {};
}

std::string key_text(std::string_view bytes) {
  char text[41];
  if (bytes.size() != 32) return "";
  zmq_z85_encode(text, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return text;
}

Result<std::string> Socket::bind(const std::string& endpoint) {
  try {
    // Only for IPv6 endpoints: with this option, 127.0.0.1 is bound and reported as [::ffff:127.0.0.1].
    impl_->socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
    impl_->socket.bind(endpoint);
    return impl_->socket.get(zmq::sockopt::last_endpoint);
  } catch (const zmq::error_t& error) {
    const bool malformed = error.num() == EINVAL || error.num() == EPROTONOSUPPORT;
    if (error.num() == ENODEV || error.num() == EADDRNOTAVAIL) {
      return invalid_argument("listen on " + endpoint +
                              ": not an address or interface of this machine; expected one, "
                              "such as 127.0.0.1 or eth0, or * for all");
    }
    return Error{malformed ? Code::kInvalidArgument : Code::kUnavailable,
                 "listen on " + endpoint + ": " + error.what(),
                 error.num() == EADDRINUSE ? ErrorCause::kAddressInUse : ErrorCause::kNone};
  }
}

Status Socket::connect(const std::string& endpoint) {
  try {
    impl_->socket.set(zmq::sockopt::ipv6, true);
    impl_->socket.connect(endpoint);
    return {};
  } catch (const zmq::error_t& error) {
    return invalid_argument("connect to " + endpoint + ": " + error.what());
  }
}

bool Socket::receive(std::string& peer, wire::Incoming& message, std::size_t frames_max,
                     std::size_t bytes_max, std::string& user) {
  message.frames.clear();
  message.frame_count = 0;
  message.bytes = 0;
  try {
    zmq::message_t part;
    if (!impl_->socket.recv(part, zmq::recv_flags::dontwait)) return false;
    peer.assign(part.data<char>(), part.size());
    while (part.more()) {
      if (!impl_->socket.recv(part)) return false;
      if (impl_->curve && message.frame_count == 0) read_user(part, user);
      ++message.frame_count;
      message.bytes += part.size();
      if (message.frame_count <= frames_max && message.bytes <= bytes_max) {
        message.frames.emplace_back(part.data<char>(), part.size());
      }
    }
    return true;
  } catch (const zmq::error_t&) {
    return false;  // EINTR: the caller retries
  }
}

Socket::Sent Socket::send(const std::string& peer, wire::Frames& frames) {
  try {
    const auto flags = zmq::send_flags::sndmore | zmq::send_flags::dontwait;
    if (!impl_->socket.send(zmq::buffer(peer), flags)) return Sent::kFull;
    send_rest(impl_->socket, frames);
    return Sent::kYes;
  } catch (const zmq::error_t& error) {
    return error.num() == EINTR ? Sent::kFull : Sent::kGone;
  }
}

Socket::Sent Socket::send(const wire::Frames& frames) {
  try {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      if (!impl_->socket.send(zmq::buffer(frames[i]), more | zmq::send_flags::dontwait)) {
        return Sent::kFull;
      }
    }
    return Sent::kYes;
  } catch (const zmq::error_t&) {
    return Sent::kGone;
  }
}

bool Socket::receive(wire::Frames& frames, long timeout_ms) {
  frames.clear();
  try {
    zmq::message_t part;
    if (timeout_ms >= 0) {
      zmq::pollitem_t item{impl_->socket.handle(), 0, ZMQ_POLLIN, 0};
      if (zmq::poll(&item, 1, std::chrono::milliseconds(timeout_ms)) == 0) return false;
    }
    do {
      if (!impl_->socket.recv(part)) return false;
      frames.emplace_back(part.data<char>(), part.size());
    } while (part.more());
    return true;
  } catch (const zmq::error_t&) {
    return false;
  }
}

Result<Socket> Socket::watch(SocketContext& context) {
  try {
    const std::string address = monitor_address();
    if (zmq_socket_monitor(
            impl_->socket.handle(), address.c_str(),
            ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) != 0) {
      return internal_error(std::string("watch connections: ") + zmq_strerror(zmq_errno()));
    }
    auto impl = std::make_unique<Impl>();
    impl->socket = zmq::socket_t(context.impl().context, zmq::socket_type::pair);
    impl->socket.set(zmq::sockopt::rcvhwm,
                     0);  // no limit: otherwise ZeroMQ's thread would wait for a slow reader
    impl->socket.set(zmq::sockopt::linger, 0);
    impl->socket.connect(address);
    return Socket(std::move(impl));
  } catch (const zmq::error_t& error) {
    return internal_error(std::string("watch connections: ") + error.what());
  }
}

std::optional<ConnectionEvent> Socket::next_event() {
  try {
    zmq::message_t head, address;
    if (!impl_->socket.recv(head, zmq::recv_flags::dontwait)) return std::nullopt;
    if (head.more()) static_cast<void>(impl_->socket.recv(address));
    std::uint16_t number = 0;
    std::int32_t value = -1;
    if (head.size() < sizeof number + sizeof value) return ConnectionEvent{};
    std::memcpy(&number, head.data(), sizeof number);
    std::memcpy(&value, head.data<char>() + sizeof number, sizeof value);
    if (number == ZMQ_EVENT_ACCEPTED) {
      return ConnectionEvent{ConnectionEvent::kAccepted, value, address.to_string()};
    }
    if (number == ZMQ_EVENT_DISCONNECTED) {
      return ConnectionEvent{ConnectionEvent::kGone, value, address.to_string()};
    }
    const bool failed = number == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL ||
                        number == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ||
                        number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    return ConnectionEvent{failed ? ConnectionEvent::kHandshakeFailed : ConnectionEvent::kOther};
  } catch (const zmq::error_t&) {
    return std::nullopt;
  }
}

void Socket::echo(const std::string& body) {
  std::vector<zmq::message_t> parts;
  for (;;) {
    parts.clear();
    do {
      parts.emplace_back();
      if (!impl_->socket.recv(parts.back())) return;
    } while (parts.back().more());
    if (parts.size() < 5) return;
    parts[4].rebuild(body.data(), body.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto more = i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      static_cast<void>(impl_->socket.send(parts[i], more));
    }
  }
}

void wait_readable(const std::vector<Socket*>& sockets, int fd, long timeout_ms) {
  std::vector<zmq::pollitem_t> items;
  items.reserve(sockets.size() + 1);
  items.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  for (Socket* socket : sockets) {
    items.push_back({socket->impl().socket.handle(), 0, ZMQ_POLLIN, 0});
  }
  try {
    zmq::poll(items.data(), items.size(), std::chrono::milliseconds(timeout_ms));
  } catch (const zmq::error_t&) {
    // Interrupted by a signal: the caller checks again.
  }
}

}  // namespace hone
