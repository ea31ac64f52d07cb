// Chooses and closes connections without a handshake. // // Rationale: ZeroMQ owns the descriptors, and its thread may close one at any time; the system may then reuse the number. So the code works on a duplicate, and closes only connections whose local end is the server's port.
#include "server/strangers.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/unique_fd.hpp"
#include "server/options.hpp"

namespace hone {

void Strangers::accepted(int descriptor, const std::string& endpoint) {
  const std::uint64_t number = ++numbers_;
  open_[descriptor] = {number, endpoint};
  if (open_.size() > limits_.open_max) return hang_up_(descriptor, endpoint);
  newest_.emplace_back(descriptor, number);
  while (newest_.size() > limits_.waiting_max) {
    const auto [oldest, its_number] = newest_.front();
    newest_.pop_front();
    const auto found = open_.find(oldest);
    const bool there = found != open_.end() && found->second.number == its_number;
    if (there && silent_(oldest)) hang_up_(oldest, found->second.endpoint);
  }
}

std::size_t Strangers::served_of(std::size_t open_max) { return open_max - open_max / 9; }

std::size_t connections_within(std::size_t descriptors) {
  return std::min(Strangers::served_of(descriptors / 2), kConnectionsMax);
}

void Strangers::gone(int descriptor) { open_.erase(descriptor); }

bool has_sent_less(int descriptor, std::size_t bytes_min) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_bytes_received < bytes_min;
}

bool shut_down_connection(int descriptor, const std::string& endpoint) {
  const UniqueFd same(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!same) return false;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(same.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return false;
  std::uint16_t port = 0;
  if (own.ss_family == AF_INET) port = reinterpret_cast<const sockaddr_in&>(own).sin_port;
  if (own.ss_family == AF_INET6) port = reinterpret_cast<const sockaddr_in6&>(own).sin6_port;
  const std::string wanted = ":" + std::to_string(ntohs(port));
  if (port == 0 || !endpoint.ends_with(wanted)) return false;
  return ::shutdown(same.get(), SHUT_RDWR) == 0;
}

}  // namespace hone
