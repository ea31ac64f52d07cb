// Puts a call's values into the arguments of a launch.
#include "channel/launch.hpp"

#include <algorithm>

namespace hone {

std::int32_t launch_call(const hone_backend_factory& backend, hone_kernel* kernel,
                         hone_buffer* buffer, const Launch& launch, const std::uint64_t* values,
                         hone_error* error) {
  std::uint64_t arguments[HONE_ARGUMENTS_MAX];
  const std::uint32_t count = std::min(launch.argument_count, HONE_ARGUMENTS_MAX);
  for (std::uint32_t i = 0; i < count; ++i) {
    const LaunchArgument& from = launch.arguments[i];
    arguments[i] = from.slot < HONE_ARGUMENTS_MAX ? values[from.slot] : from.value;
  }
  hone_launch call{};
  call.struct_size = sizeof call;
  call.count = count;
  call.values = arguments;
  std::copy_n(launch.grid, 3, call.grid);
  std::copy_n(launch.block, 3, call.block);
  std::copy_n(launch.cluster, 3, call.cluster);
  call.shared_bytes = launch.shared_bytes;
  call.flags = launch.flags;
  return backend.launch(kernel, buffer, &call, error);
}

}  // namespace hone
