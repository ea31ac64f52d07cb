// What this process holds.
#pragma once

#include <cstddef>

namespace hone {

/// Of memory, in bytes, after what was freed has gone back; 0 where the kernel does not say.
std::size_t resident_bytes();

}  // namespace hone
