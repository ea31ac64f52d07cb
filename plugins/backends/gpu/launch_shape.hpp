// The shape of a launch, as both vendors' headers take it.
#pragma once

namespace hone_gpu {

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned cluster[3];  ///< all 0: no clusters
  unsigned shared_bytes;
  bool cooperative;
};

}  // namespace hone_gpu
