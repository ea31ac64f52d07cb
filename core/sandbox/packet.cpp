// Packets: encoding, bounds, and descriptors by SCM_RIGHTS.
#include "sandbox/packet.hpp"

#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>

namespace hone {

PacketWriter& PacketWriter::number(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

PacketWriter& PacketWriter::real(double value) {
  return number(std::bit_cast<std::int64_t>(value));
}

PacketWriter& PacketWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

PacketWriter& PacketWriter::texts(const std::vector<std::string>& values) {
  number(static_cast<std::int64_t>(values.size()));
  for (const std::string& value : values) text(value);
  return *this;
}

bool PacketReader::take(void* to, std::size_t size) {
  if (!ok_ || rest_.size() < size) {
    ok_ = false;
    return false;
  }
  std::memcpy(to, rest_.data(), size);
  rest_.remove_prefix(size);
  return true;
}

std::int64_t PacketReader::number() {
  std::int64_t value = 0;
  take(&value, sizeof value);
  return value;
}

std::int64_t PacketReader::number_in(std::int64_t low, std::int64_t high) {
  const std::int64_t value = number();
  if (ok_ && value >= low && value <= high) return value;
  ok_ = false;
  return low;
}

std::int64_t PacketReader::count() {
  return number_in(0, std::numeric_limits<std::int64_t>::max());
}

double PacketReader::real() { return std::bit_cast<double>(number()); }

std::string PacketReader::text() {
  const std::int64_t size = count();
  if (!ok_ || static_cast<std::uint64_t>(size) > rest_.size()) {
    ok_ = false;
    return {};
  }
  std::string value(rest_.substr(0, static_cast<std::size_t>(size)));
  rest_.remove_prefix(value.size());
  return value;
}

std::vector<std::string> PacketReader::texts() {
  std::vector<std::string> values;
  for (std::int64_t left = count(); ok_ && left > 0; --left) values.push_back(text());
  if (!ok_) values.clear();
  return values;
}

Status send_packet(int socket, std::string_view bytes, std::span<const int> fds,
                   std::string_view tail) {
  const std::size_t size = bytes.size() + tail.size();
  if (size > kPacketBytesMax || fds.size() > kPacketFdsMax) {
    return resource_exhausted("packet of " + std::to_string(size) + " bytes and " +
                              std::to_string(fds.size()) + " descriptors, at most " +
                              std::to_string(kPacketBytesMax) + " and " +
                              std::to_string(kPacketFdsMax) + " allowed");
  }
  iovec parts[] = {{const_cast<char*>(bytes.data()), bytes.size()},
                   {const_cast<char*>(tail.data()), tail.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = std::size(parts);
  alignas(cmsghdr) char control[CMSG_SPACE(kPacketFdsMax * sizeof(int))] = {};
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno == EINTR) continue;
    Error error = system_error("send to launcher socket", errno);
    if (errno == EAGAIN) error.code = Code::kResourceExhausted;
    return error;
  }
}

Result<Packet> receive_packet(int socket) {
  Packet packet;
  packet.bytes.resize(kPacketBytesMax);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kPacketFdsMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno != ECONNRESET) {
    return system_error("receive from launcher socket", errno);
  }
  packet.bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  packet.end = size <= 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      packet.fds.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return internal_error("launcher packet was cut");
  }
  return packet;
}

}  // namespace hone
