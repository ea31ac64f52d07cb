// Packets: bounded binary messages, with descriptors, over the launcher's SOCK_SEQPACKET socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

constexpr std::size_t kPacketBytesMax = 128 << 10;
constexpr std::size_t kPacketFdsMax = 200;  // the kernel's own limit is 253

/// Builds a packet from numbers and texts. The reader must read them in the same order.
class PacketWriter {
 public:
  PacketWriter& number(std::int64_t value);
  PacketWriter& real(double value);
  PacketWriter& text(std::string_view value);
  PacketWriter& texts(const std::vector<std::string>& values);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads the values of a PacketWriter. After a short or malformed packet, all values are empty and ok() is
/// false.
class PacketReader {
 public:
  explicit PacketReader(std::string_view bytes) : rest_(bytes) {}
  std::int64_t number();
  /// A number outside the range is malformed, and `low` is returned.
  std::int64_t number_in(std::int64_t low, std::int64_t high);
  double real();
  std::string text();
  std::vector<std::string> texts();
  /// The number of values that follow. A negative count is malformed.
  std::int64_t count();
  /// Whether all values so far were valid.
  bool ok() const { return ok_; }
  /// Whether all values were valid and no bytes are left.
  bool done() const { return ok_ && rest_.empty(); }

 private:
  bool take(void* to, std::size_t size);
  std::string_view rest_;
  bool ok_ = true;
};

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds;
  bool end = false;  ///< the other side has closed
};

/// Sends one packet: `bytes`, then `tail`. `unavailable`: the other side has closed. `resource_exhausted`:
/// the socket is non-blocking and full, or the packet is too large.
Status send_packet(int socket, std::string_view bytes, std::span<const int> fds,
                   std::string_view tail = {});
/// Receives one packet, waiting for it on a blocking socket. Descriptors are close-on-exec.
Result<Packet> receive_packet(int socket);

}  // namespace hone
