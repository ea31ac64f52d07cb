// Functions that read hardware counters. For a vendor without support, they fail and are null in the backend's table.
#pragma once

#include <cstdint>

#include "hone/backend.h"

namespace hone_gpu {

std::int32_t open_counters(hone_device* device, const char* library, std::uint32_t launches_max,
                           hone_counters** out, hone_error* error);
std::int32_t begin_pass(hone_counters* counters, hone_error* error);
std::int32_t end_pass(hone_counters* counters, std::uint32_t* is_last, hone_error* error);
std::int32_t read_counters(hone_counters* counters, std::uint32_t launch, hone_launch_counters* out,
                           hone_error* error);
void close_counters(hone_counters* counters);

}  // namespace hone_gpu
