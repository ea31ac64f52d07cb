// The shapes of launches and tensor maps, as both vendors' headers take them.
#pragma once

#include <cstdint>

namespace hone_gpu {

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3];  ///< all 0: no clusters
  unsigned shared_bytes;
  bool cooperative;
  bool overlaps;  ///< may begin before the launch before it has ended, where the vendor has that
};

/// A tensor map but its address. Borrows the lists.
struct TensorShape {
  int type;
  unsigned rank;
  const std::uint64_t* sizes;
  const std::uint64_t* strides;
  const unsigned* box;
  const unsigned* element_strides;
  int interleave, swizzle, promotion, fill;
};

}  // namespace hone_gpu
