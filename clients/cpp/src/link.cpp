// DEALER sockets and their monitors: the one file of the client that includes ZeroMQ.
//
// Rationale: a monitor, because a DEALER hides lost connections: it reconnects under a new
// identity, and the replies to whatever was under way are gone without a word. After a loss the
// link is thrown away, so that nothing queued in it is sent to the next server unasked.
#include "link.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <zmq.hpp>

#include "base/port.hpp"

namespace hone::inline client_api {

struct LinkContext::Impl {
  zmq::context_t context{1};
};

LinkContext::LinkContext() : impl_(std::make_unique<Impl>()) {}
LinkContext::~LinkContext() = default;
void LinkContext::abandon() { static_cast<void>(impl_.release()); }

namespace {

constexpr int kHandshakeFailed = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

/// Events of an attempt to connect: the first three mean that a socket exists, the last one ends the attempt.
constexpr int kAttempt =
    ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED;

std::string monitor_address() {
  static std::atomic<std::uint64_t> counter{0};
  return "inproc://hone-link-" + std::to_string(++counter);
}

Link::Event kind_of(std::uint16_t number, std::uint32_t value) {
  switch (number) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return Link::Event::kUp;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return Link::Event::kKeyRefused;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      return value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH ? Link::Event::kOtherMechanism
                                                                 : Link::Event::kHandshakeFailed;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return Link::Event::kHandshakeFailed;
    default:
      return Link::Event::kDown;
  }
}

class ZmqLink final : public Link {
 public:
  ~ZmqLink() override;
  /// Throws zmq::error_t for a bad endpoint.
  Status connect(zmq::context_t& context, const std::string& endpoint,
                 const std::optional<wire::KeyPair>& keys);
  bool send(const Frames& frames) override;
  bool receive(Frames& frames) override;
  Event next_event() override;
  std::vector<void*> sockets() override { return {dealer_.handle(), monitor_.handle()}; }

 private:
  zmq::socket_t dealer_;
  zmq::socket_t monitor_;
  bool opened_ = false;  // the current attempt to connect has created a socket
};

ZmqLink::~ZmqLink() {
  try {
    zmq_socket_monitor(dealer_.handle(), nullptr, 0);
    monitor_.close();
    dealer_.close();
  } catch (const zmq::error_t&) {
    // The connection is only closed; an error has no receiver.
  }
}

Status ZmqLink::connect(zmq::context_t& context, const std::string& endpoint,
                        const std::optional<wire::KeyPair>& keys) {
  dealer_ = zmq::socket_t(context, zmq::socket_type::dealer);
  dealer_.set(zmq::sockopt::linger, 0);
  dealer_.set(zmq::sockopt::immediate, true);
  dealer_.set(zmq::sockopt::sndhwm, 0);
  dealer_.set(zmq::sockopt::rcvhwm, 0);
  dealer_.set(zmq::sockopt::ipv6, true);
  // The transport's own pings end a connection whose other side is gone without a word.
  dealer_.set(zmq::sockopt::heartbeat_ivl, 5000);
  dealer_.set(zmq::sockopt::heartbeat_timeout, 15000);
  dealer_.set(zmq::sockopt::reconnect_ivl, 50);
  dealer_.set(zmq::sockopt::reconnect_ivl_max, 1000);
  if (keys) {
    dealer_.set(zmq::sockopt::curve_serverkey, keys->server_key);
    dealer_.set(zmq::sockopt::curve_publickey, keys->public_key);
    dealer_.set(zmq::sockopt::curve_secretkey, keys->secret_key);
  }
  const std::string address = monitor_address();
  if (zmq_socket_monitor(dealer_.handle(), address.c_str(),
                         ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | kHandshakeFailed |
                             kAttempt) != 0) {
    return internal_error(std::string("socket monitor: ") + zmq_strerror(zmq_errno()));
  }
  monitor_ = zmq::socket_t(context, zmq::socket_type::pair);
  monitor_.connect(address);
  dealer_.connect(endpoint);
  return {};
}

bool ZmqLink::send(const Frames& frames) {
  try {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      if (!dealer_.send(zmq::buffer(frames[i]), more | zmq::send_flags::dontwait)) return false;
    }
    return true;
  } catch (const zmq::error_t&) {
    return false;
  }
}

bool ZmqLink::receive(Frames& frames) {
  frames.clear();
  try {
    zmq::message_t part;
    do {
      if (!dealer_.recv(part, zmq::recv_flags::dontwait)) return false;
      frames.push_back(part.to_string());
    } while (part.more());
    return true;
  } catch (const zmq::error_t&) {
    return false;
  }
}

Link::Event ZmqLink::next_event() {
  try {
    while (true) {
      zmq::message_t event, address;
      if (!monitor_.recv(event, zmq::recv_flags::dontwait)) return Event::kNone;
      static_cast<void>(monitor_.recv(address));
      std::uint16_t number = 0;
      std::uint32_t value = 0;
      if (event.size() < sizeof number + sizeof value) return Event::kNone;
      std::memcpy(&number, event.data(), sizeof number);
      std::memcpy(&value, event.data<char>() + sizeof number, sizeof value);
      if (number == ZMQ_EVENT_CONNECT_RETRIED) {
        return std::exchange(opened_, false) ? Event::kUnanswered : Event::kUnresolved;
      }
      if ((number & kAttempt) == 0) return kind_of(number, value);
      opened_ = true;
    }
  } catch (const zmq::error_t&) {
    return Event::kNone;
  }
}

/// Rationale: libzmq truncates ports above 65535 to 16 bits, and would then wait for a server at another port.
Status expect_port(const std::string& endpoint) {
  if (!endpoint.starts_with("tcp://")) return {};
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  if (port_number(port).value_or(0) > 0) return {};
  return invalid_argument("endpoint '" + endpoint + "': found port '" + port +
                          "', expected 1 to 65535, as in tcp://127.0.0.1:5917");
}

}  // namespace

Result<std::optional<wire::KeyPair>> read_keys(const ClientOptions& options) {
  if (options.key_file.empty()) {
    if (options.server_key.empty()) return std::optional<wire::KeyPair>();
    return invalid_argument(
        "server_key: found one, but no key of this client's: the server lets in those alone whose "
        "keys it knows (hone keys new NAME)");
  }
  HONE_ASSIGN(wire::KeyPair keys, wire::read_key_file(options.key_file));
  if (!options.server_key.empty()) {
    HONE_ASSIGN(keys.server_key, wire::read_public_key(options.server_key));
  }
  if (keys.server_key.empty()) {
    return invalid_argument("key file " + options.key_file +
                            ": found no line 'server: …', and no server_key was given");
  }
  if (zmq_has("curve") != 1) {
    return Error{Code::kUnimplemented, "this libzmq was built without CURVE"};
  }
  char public_key[41];
  if (zmq_curve_public(public_key, keys.secret_key.c_str()) != 0 || keys.public_key != public_key) {
    return invalid_argument("key file " + options.key_file +
                            ": the public key is not that of the secret key");
  }
  return std::optional(std::move(keys));
}

Result<std::unique_ptr<Link>> open_link(LinkContext& context, const std::string& endpoint,
                                        const std::optional<wire::KeyPair>& keys) {
  HONE_TRY(expect_port(endpoint));
  try {
    auto link = std::make_unique<ZmqLink>();
    HONE_TRY(link->connect(context.impl().context, endpoint, keys));
    return std::unique_ptr<Link>(std::move(link));
  } catch (const zmq::error_t& error) {
    return invalid_argument("endpoint '" + endpoint + "': " + error.what() +
                            ", expected e.g. tcp://127.0.0.1:5917");
  }
}

void wait_for_links(const std::vector<Link*>& links, int wake_fd, long timeout_ms) {
  std::array<zmq::pollitem_t, 5> items{};
  std::size_t count = 0;
  items[count++] = {nullptr, wake_fd, ZMQ_POLLIN, 0};
  for (Link* link : links) {
    for (void* socket : link->sockets()) {
      if (count < items.size()) items[count++] = {socket, 0, ZMQ_POLLIN, 0};
    }
  }
  try {
    zmq::poll(items.data(), count, std::chrono::milliseconds(timeout_ms));
  } catch (const zmq::error_t&) {
    // Interrupted by a signal: the caller's loop looks again.
  }
}

}  // namespace hone::inline client_api
