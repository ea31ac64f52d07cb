// evict(): puts memory out of all caches, so that two rounds begin alike whatever ran before them.
#pragma once

#include <cstdint>

namespace hone {

/// Writes back and drops the lines of [at, at + bytes) from the caches of all cores. Does nothing
/// where the processor has no such instruction.
void evict(const char* at, std::uint64_t bytes);

}  // namespace hone
