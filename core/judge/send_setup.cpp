// One message with descriptors.
#include "judge/send_setup.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace hone {

Setup make_setup(const Task& task, const Plans& plans) {
  Setup setup{};
  setup.version = kChannelVersion;
  setup.memory_bytes = static_cast<std::uint64_t>(task.memory_mb) * 4 << 20;
  setup.threads = static_cast<std::uint32_t>(task.threads);
  plans.list_kernels(setup);
  return setup;
}

Status send_setup(int socket, const Setup& setup, const std::array<int, 4>& fds) {
  union {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fds)];
  } control{};
  iovec part{const_cast<Setup*>(&setup), sizeof setup};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  // A process that does not receive its setup is not waited for.
  if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(sizeof setup)) {
    return system_error("send setup", errno);
  }
  return {};
}

}  // namespace hone
