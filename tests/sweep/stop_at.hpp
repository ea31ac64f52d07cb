// StopAt: kills this process at its k-th operation on a file or a socket.
#pragma once

#include <cstdint>

namespace hone::test {

/// From now on writes, syncs and truncations of files, and messages to and from sockets, are
/// counted; the k-th does not happen, and nothing after it. 0: never.
void stop_at(std::int64_t k);
/// Since stop_at().
std::int64_t operations();

/// What the process ends with.
inline constexpr int kStopped = 137;

}  // namespace hone::test
