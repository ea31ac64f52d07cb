// The result of the first hello.
#include "connect_status.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/clock.hpp"

namespace hone::inline client_api {
namespace {

/// The host of "tcp://HOST:PORT" if it is a name; empty if it is an address, or for other transports.
std::string host_name(const std::string& endpoint) {
  constexpr std::string_view kTcp = "tcp://";
  if (!endpoint.starts_with(kTcp)) return "";
  const std::string host = endpoint.substr(kTcp.size(), endpoint.rfind(':') - kTcp.size());
  in_addr v4{};
  const bool address = host.starts_with('[') || inet_pton(AF_INET, host.c_str(), &v4) == 1;
  return address ? "" : host;
}

}  // namespace

Status ConnectStatus::wait_until_greeted(double seconds) {
  const auto limit_ns = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
  const std::int64_t end = monotonic_ns() + limit_ns;
  MutexLock lock(mutex_);
  while (!greeted_) {
    if (fatal_) return fatal_->error().in(endpoint_);
    const std::int64_t left = end - monotonic_ns();
    if (left <= 0) {
      if (!refused_.empty()) return unavailable(refused_).in(endpoint_);
      return unavailable(endpoint_ + ": no hone server answered within " +
                         std::to_string(limit_ns / 1'000'000) + " ms; " + why_unanswered());
    }
    changed_.wait_for(mutex_, std::chrono::nanoseconds(left));
  }
  return {};
}

Value ConnectStatus::hello() const {
  MutexLock lock(mutex_);
  return hello_;
}

std::optional<Failure> ConnectStatus::fatal() const {
  MutexLock lock(mutex_);
  return fatal_;
}

void ConnectStatus::set_greeted(const Value& hello) {
  MutexLock lock(mutex_);
  hello_ = hello;
  greeted_ = true;
  changed_.notify_all();
}

void ConnectStatus::set_refused(const std::string& message) {
  MutexLock lock(mutex_);
  refused_ = message;
}

void ConnectStatus::set_fatal(const Failure& failure) {
  MutexLock lock(mutex_);
  fatal_ = failure;
  changed_.notify_all();
}

std::optional<ServerWait> ConnectStatus::server_wait() const {
  MutexLock lock(mutex_);
  return server_wait_;
}

void ConnectStatus::set_server_wait(std::optional<ServerWait> wait) {
  MutexLock lock(mutex_);
  server_wait_ = wait;
}

void ConnectStatus::set_unresolved(bool unresolved) {
  MutexLock lock(mutex_);
  unresolved_ = unresolved;
}

std::size_t ConnectStatus::count_failed_handshake() {
  MutexLock lock(mutex_);
  return ++handshakes_failed_;
}

std::string ConnectStatus::why_unanswered() const {
  if (handshakes_failed_ > 0) {
    // A server with another mechanism has been ruled out (Connector::wants_another_mechanism).
    return std::to_string(handshakes_failed_) +
           " handshakes failed; check that a hone server listens there" +
           (has_keys_ ? " with the server key of this client's key file" : "") +
           ", and that its log reports no limit of connections or open files";
  }
  const std::string name = host_name(endpoint_);
  if (unresolved_ && !name.empty()) {
    return "the host name '" + name +
           "' does not resolve; check its spelling, or the name service: getent hosts " + name;
  }
  return "check that `hone serve` runs there";
}

}  // namespace hone::inline client_api
