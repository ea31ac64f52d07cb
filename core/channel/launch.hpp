// One launch as an order says it, given to a backend.
#pragma once

#include <cstdint>

#include "channel/control.hpp"

namespace hone {

/// `values`: the call's. `launch` is untrusted only in what the backend checks.
std::int32_t launch_call(const hone_backend_factory& backend, hone_kernel* kernel,
                         hone_buffer* buffer, const Launch& launch, const std::uint64_t* values,
                         hone_error* error);

}  // namespace hone
