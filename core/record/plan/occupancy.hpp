// How many blocks of a kernel fit on a multiprocessor, from registers, shared memory and threads.
#pragma once

#include <cstddef>

#include "record/driver/device.hpp"
#include "record/plan/images.hpp"

namespace hone::record {

/// Dynamic shared memory that a launch may ask for (bytes).
int dynamic_shared_max(const Function& function, const Device& device);

/// 0 for a block that does not fit at all. `threads` and `shared_bytes` (dynamic) are a block's.
int blocks_per_multiprocessor(const Function& function, const Device& device, int threads,
                              std::size_t shared_bytes);

}  // namespace hone::record
