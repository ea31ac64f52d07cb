// Launches of kernels, and tensor maps for them.
#include <algorithm>

#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

int launch_function(FunctionHandle handle, LaunchRequest& request) {
  return guarded([&](Recording& r) {
    request.function = r.images.function(handle);
    return launch(r, request);
  });
}

}  // namespace

HONE_RECORD_API int cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, StreamHandle stream,
                                   void** parameters, void** extra) {
  LaunchRequest request;
  request.grid = {grid_x, grid_y, grid_z};
  request.block = {block_x, block_y, block_z};
  request.shared_bytes = shared_bytes;
  request.stream = stream;
  request.parameters = parameters;
  request.extra = extra;
  return launch_function(function, request);
}
HONE_RECORD_API int cuLaunchCooperativeKernel(FunctionHandle function, unsigned grid_x,
                                              unsigned grid_y, unsigned grid_z, unsigned block_x,
                                              unsigned block_y, unsigned block_z,
                                              unsigned shared_bytes, StreamHandle stream,
                                              void** parameters) {
  LaunchRequest request;
  request.grid = {grid_x, grid_y, grid_z};
  request.block = {block_x, block_y, block_z};
  request.shared_bytes = shared_bytes;
  request.stream = stream;
  request.parameters = parameters;
  request.is_cooperative = true;
  return launch_function(function, request);
}
HONE_RECORD_API int cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function,
                                     void** parameters, void** extra) {
  LaunchRequest request;
  std::copy(std::begin(config->grid), std::end(config->grid), request.grid.begin());
  std::copy(std::begin(config->block), std::end(config->block), request.block.begin());
  request.shared_bytes = config->shared_bytes;
  request.stream = config->stream;
  request.parameters = parameters;
  request.extra = extra;
  request.attributes = config->attributes;
  request.attribute_count = config->attribute_count;
  return launch_function(function, request);
}

HONE_RECORD_API int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                                           const std::uint64_t* sizes, const std::uint64_t* strides,
                                           const std::uint32_t* box,
                                           const std::uint32_t* element_strides, int interleave,
                                           int swizzle, int promotion, int fill) {
  constexpr std::uint64_t kAlignment = 16;
  const auto start = reinterpret_cast<std::uint64_t>(address);
  if (rank == 0 || rank > hone::recorded::kTensorMapDims || start % kAlignment != 0)
    return kInvalidValue;
  return guarded([&](Recording& r) {
    TensorMaps::Encoded encoded;
    encoded.address = start;
    encoded.map.type = static_cast<std::uint32_t>(type);
    encoded.map.rank = rank;
    std::copy(sizes, sizes + rank, encoded.map.sizes.begin());
    std::copy(strides, strides + rank - 1, encoded.map.strides.begin());
    std::copy(box, box + rank, encoded.map.box.begin());
    std::copy(element_strides, element_strides + rank, encoded.map.element_strides.begin());
    encoded.map.interleave = static_cast<std::uint32_t>(interleave);
    encoded.map.swizzle = static_cast<std::uint32_t>(swizzle);
    encoded.map.promotion = static_cast<std::uint32_t>(promotion);
    encoded.map.fill = static_cast<std::uint32_t>(fill);
    r.tensor_maps.encode(encoded, map);
    return kOk;
  });
}
