// Length-prefixed messages. Descriptors are sent with the prefix.
#include "channel/stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/assert.hpp"
#include "base/clock.hpp"

namespace hone {
namespace {

/// Waits until the socket is ready for `events` or the deadline has passed.
Status wait_ready(int socket, short events, double deadline_s, int watch) {
  for (;;) {
    const double left = deadline_s - monotonic_s();
    if (left <= 0) return Error{Code::kDeadlineExceeded, "message: no answer in time"};
    pollfd polled[2] = {{socket, events, 0}, {watch, POLLIN, 0}};
    const int n =
        ::poll(polled, watch >= 0 ? 2 : 1, static_cast<int>(std::min(left * 1e3 + 1, 1e9)));
    if (n < 0 && errno != EINTR) return system_error("poll", errno);
    if (n <= 0) continue;
    if (polled[0].revents != 0) return {};
    if (watch >= 0 && polled[1].revents != 0)
      return unavailable("message: the other process has ended");
  }
}

struct Prefix {
  std::uint64_t size;
  std::uint32_t fd_count;
  std::uint32_t magic;
};
constexpr std::uint32_t kMagic = 0x656e6f68;  // "hone"

union ControlBuffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * kStreamFdsMax)];
};

Status send_prefix(int socket, const Prefix& prefix, const std::vector<int>& fds,
                   double deadline_s) {
  iovec part{const_cast<Prefix*>(&prefix), sizeof prefix};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  for (;;) {
    HONE_TRY(wait_ready(socket, POLLOUT, deadline_s, -1));
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n == static_cast<ssize_t>(sizeof prefix)) return {};
    if (n >= 0) return internal_error("message: half a prefix was sent");
    if (errno != EAGAIN && errno != EINTR) return system_error("send message", errno);
  }
}

Result<Prefix> receive_prefix(int socket, StreamMessage& into, double deadline_s, int watch) {
  Prefix prefix{};
  std::size_t got = 0;
  while (got < sizeof prefix) {
    HONE_TRY(wait_ready(socket, POLLIN, deadline_s, watch));
    iovec part{reinterpret_cast<char*>(&prefix) + got, sizeof prefix - got};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n == 0) return unavailable("message: the other side has closed");
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return system_error("receive message", errno);
    for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
      if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
        into.fds.emplace_back(fd);
      }
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0)
      return invalid_argument("message: too many descriptors");
    got += static_cast<std::size_t>(n);
  }
  return prefix;
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> stream_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("socketpair", errno);
  return std::make_pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status send_message(int socket, std::string_view bytes, const std::vector<int>& fds,
                    double timeout_s) {
  HONE_ASSERT(fds.size() <= kStreamFdsMax);
  const double deadline_s = monotonic_s() + timeout_s;
  HONE_TRY(send_prefix(socket, {bytes.size(), static_cast<std::uint32_t>(fds.size()), kMagic}, fds,
                       deadline_s));
  while (!bytes.empty()) {
    HONE_TRY(wait_ready(socket, POLLOUT, deadline_s, -1));
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return system_error("send message", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<StreamMessage> receive_message(int socket, std::size_t bytes_max, double timeout_s,
                                      int watch) {
  const double deadline_s = monotonic_s() + timeout_s;
  StreamMessage message;
  HONE_ASSIGN(const Prefix prefix, receive_prefix(socket, message, deadline_s, watch));
  if (prefix.magic != kMagic) return invalid_argument("message: broken prefix");
  if (prefix.size > bytes_max) {
    return invalid_argument("message: " + std::to_string(prefix.size) + " bytes, at most " +
                            std::to_string(bytes_max) + " allowed");
  }
  if (prefix.fd_count != message.fds.size()) {
    return invalid_argument("message: " + std::to_string(message.fds.size()) + " descriptors, " +
                            std::to_string(prefix.fd_count) + " announced");
  }
  message.bytes.resize(prefix.size);
  std::size_t got = 0;
  while (got < prefix.size) {
    HONE_TRY(wait_ready(socket, POLLIN, deadline_s, watch));
    const ssize_t n = ::recv(socket, message.bytes.data() + got, prefix.size - got, MSG_DONTWAIT);
    if (n == 0) return unavailable("message: the other side has closed");
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return system_error("receive message", errno);
    got += static_cast<std::size_t>(n);
  }
  return message;
}

}  // namespace hone
