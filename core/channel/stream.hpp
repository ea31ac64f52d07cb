// Bounded messages with file descriptors over a unix socket: host with judge, host with builder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// A received message with its descriptors.
struct StreamMessage {
  std::string bytes;
  std::vector<UniqueFd> fds;
};

inline constexpr std::size_t kStreamFdsMax = 16;

/// A connected pair of stream sockets, close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> stream_pair();

/// Sends length, descriptors and bytes. Blocks up to timeout_s: `deadline_exceeded`. A peer that is
/// gone is `unavailable`.
Status send_message(int socket, std::string_view bytes, const std::vector<int>& fds,
                    double timeout_s);

/// Receives one message of at most bytes_max and kStreamFdsMax descriptors (more is
/// invalid_argument, and the stream is then of no further use). `watch` (or -1) is a pidfd: when it
/// fires and nothing is left to read, the peer is gone.
Result<StreamMessage> receive_message(int socket, std::size_t bytes_max, double timeout_s,
                                      int watch = -1);

}  // namespace hone
