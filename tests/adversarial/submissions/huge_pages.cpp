// Tries: to collapse its arena into huge pages, which the baseline does not have, or to merge pages
// with other processes. Stopped by: the filter knows no such advice.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  auto* page = const_cast<inside::Orders*>(inside::pages().orders);
  errno = 0;
  const bool collapsed = madvise(page, 4096, 25) == 0 || errno != EPERM;
  errno = 0;
  const bool merged = madvise(page, 4096, MADV_MERGEABLE) == 0 || errno != EPERM;
  inside::report(collapsed || merged);
}
