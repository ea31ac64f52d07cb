// Link: one DEALER connection as frames, with events when it comes up and goes down. Hides ZeroMQ.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hone/client.hpp"
#include "wire/key_file.hpp"
#include "wire/message.hpp"

namespace hone::inline client_api {

using wire::Frames;

/// A ZeroMQ context; links must be gone before it goes. Never used across fork().
class LinkContext {
 public:
  LinkContext();
  ~LinkContext();
  LinkContext(const LinkContext&) = delete;
  LinkContext& operator=(const LinkContext&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }
  /// In a forked child: forgets the context without touching it.
  void abandon();

 private:
  std::unique_ptr<Impl> impl_;
};

/// One connection. Not thread-safe: lives on the client's thread.
class Link {
 public:
  enum class Event {
    kNone,
    kUp,
    kDown,
    kHandshakeFailed,  ///< another server's key, or the server ended during the handshake
    kKeyRefused,       ///< the server does not allow this key
    kOtherMechanism,   ///< only one side uses CURVE
    kUnresolved,       ///< an attempt to connect ended before there was a socket: no such host
    kUnanswered,       ///< an attempt to connect ended after there was a socket: no answer
  };

  virtual ~Link() = default;
  /// False when the outgoing queue is full or the connection is gone: nothing was sent.
  virtual bool send(const Frames& frames) = 0;
  /// False if there is no message.
  virtual bool receive(Frames& frames) = 0;
  virtual Event next_event() = 0;
  /// Its ZeroMQ sockets, for wait_for_links().
  virtual std::vector<void*> sockets() = 0;
};

/// Starts connecting; ZeroMQ retries while no server listens. invalid_argument: a bad
/// endpoint. With `keys` (a pair and the server's public key) the connection is encrypted.
Result<std::unique_ptr<Link>> open_link(LinkContext& context, const std::string& endpoint,
                                        const std::optional<wire::KeyPair>& keys);

/// The keys of a client's options; none where it has no key file. Errors name the wrong key and the reason.
Result<std::optional<wire::KeyPair>> read_keys(const ClientOptions& options);

/// Waits until a link has something, `wake_fd` is readable or `timeout_ms` (< 0: no end) went by.
void wait_for_links(const std::vector<Link*>& links, int wake_fd, long timeout_ms);

}  // namespace hone::inline client_api
