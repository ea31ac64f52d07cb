// A connection of its own, of twelve bytes out and thirty-two in.
#include "greeting.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

namespace hone::inline client_api {
namespace {

// ZMTP 3: a signature, two bytes of version, the mechanism's name filled up with zeros, …
constexpr std::array<unsigned char, 12> kOurs{0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 1};
constexpr std::size_t kMechanismAt = 12, kMechanismSize = 20;

class Peek {
 public:
  explicit Peek(int timeout_ms) : end_ns_(monotonic_ns() + std::int64_t{timeout_ms} * 1'000'000) {}

  bool connect(const sockaddr* address, socklen_t size) {
    socket_.reset(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) return false;
    if (::connect(socket_.get(), address, size) != 0) {
      int trouble = 0;
      socklen_t length = sizeof trouble;
      if (errno != EINPROGRESS || !ready(POLLOUT) ||
          ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &trouble, &length) != 0 || trouble != 0)
        return false;
    }
    return true;
  }

  std::string mechanism() {
    const auto sent = ::send(socket_.get(), kOurs.data(), kOurs.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(kOurs.size())) return "";
    std::array<char, kMechanismAt + kMechanismSize> theirs{};
    for (std::size_t have = 0; have < theirs.size();) {
      if (!ready(POLLIN)) return "";
      const ssize_t n = ::recv(socket_.get(), theirs.data() + have, theirs.size() - have, 0);
      if (n <= 0) return "";
      have += static_cast<std::size_t>(n);
    }
    if (theirs[0] != '\xff' || theirs[9] != '\x7f') return "";
    const std::string name(theirs.data() + kMechanismAt, kMechanismSize);
    return name.substr(0, name.find('\0'));
  }

 private:
  bool ready(short events) const {
    const std::int64_t left = std::max<std::int64_t>(end_ns_ - monotonic_ns(), 0);
    pollfd one{socket_.get(), events, 0};
    return ::poll(&one, 1, static_cast<int>(left / 1'000'000)) == 1;
  }

  const std::int64_t end_ns_;
  UniqueFd socket_;
};

std::string over_tcp(const std::string& place, int timeout_ms) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return "";
  std::string host = place.substr(0, colon);
  if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), place.c_str() + colon + 1, &wanted, &found) != 0) return "";
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Peek peek(timeout_ms);
    if (peek.connect(one->ai_addr, one->ai_addrlen)) return peek.mechanism();
  }
  return "";
}

std::string over_ipc(const std::string& path, int timeout_ms) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return "";
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';
  Peek peek(timeout_ms);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (!peek.connect(reinterpret_cast<const sockaddr*>(&address), size)) return "";
  return peek.mechanism();
}

}  // namespace

std::string mechanism_of(const std::string& endpoint, int timeout_ms) {
  if (endpoint.rfind("tcp://", 0) == 0) return over_tcp(endpoint.substr(6), timeout_ms);
  if (endpoint.rfind("ipc://", 0) == 0) return over_ipc(endpoint.substr(6), timeout_ms);
  return "";
}

}  // namespace hone::inline client_api
