// Executes one launch of an order with a backend.
#pragma once

#include <cstdint>

#include "channel/control.hpp"

namespace hone {

/// `values`: of the call. The backend checks `launch`, which is untrusted.
std::int32_t launch_call(const hone_backend_factory& backend, hone_kernel* kernel,
                         hone_buffer* buffer, const Launch& launch, const std::uint64_t* values,
                         hone_error* error);

}  // namespace hone
