// ConnectStatus: the result of the first hello, for callers that wait for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "channel.hpp"
#include "hone/client.hpp"

namespace hone::inline client_api {

/// [any thread]
class ConnectStatus {
 public:
  explicit ConnectStatus(std::string endpoint, bool has_keys)
      : endpoint_(std::move(endpoint)), has_keys_(has_keys) {}

  /// Waits for the first reply to hello. If no server answers, the error names the likely reason.
  Status wait_until_greeted(double seconds);
  Value hello() const;
  std::optional<Failure> fatal() const;
  bool is_served() const { return served_.load(std::memory_order_relaxed); }

  /// Whether a server takes new requests on the main channel.
  void set_served(bool served) { served_.store(served, std::memory_order_relaxed); }

  /// The longest wait of a request for a server on the main channel.
  std::optional<ServerWait> server_wait() const;
  void set_server_wait(std::optional<ServerWait> wait);

  void set_greeted(const Value& hello);
  /// The server refused this hello; a later one may succeed.
  void set_refused(const std::string& message);
  /// No further attempt can succeed.
  void set_fatal(const Failure& failure);
  /// An attempt ended: the host name did not resolve, or nothing answered.
  void set_unresolved(bool unresolved);
  /// Returns the number of failed handshakes so far.
  std::size_t count_failed_handshake();

 private:
  std::string why_unanswered() const HONE_REQUIRES(mutex_);

  const std::string endpoint_;
  const bool has_keys_;
  std::atomic<bool> served_{false};
  mutable Mutex mutex_;
  Condition changed_;
  bool greeted_ HONE_GUARDED_BY(mutex_) = false;
  std::optional<ServerWait> server_wait_ HONE_GUARDED_BY(mutex_);
  Value hello_ HONE_GUARDED_BY(mutex_);
  std::string refused_ HONE_GUARDED_BY(mutex_);  // the reason why the last hello must be repeated
  std::optional<Failure> fatal_ HONE_GUARDED_BY(mutex_);
  std::size_t handshakes_failed_ HONE_GUARDED_BY(mutex_) = 0;
  bool unresolved_ HONE_GUARDED_BY(mutex_) = false;  // the last attempt found no such host
};

}  // namespace hone::inline client_api
