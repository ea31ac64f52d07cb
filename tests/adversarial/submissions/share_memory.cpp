// Tries: to hold shared memory, which a limit on private memory does not see. Stopped by: the
// filter allows shared mappings of the descriptors it was given only.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  constexpr size_t kBytes = size_t{64} << 20;
  inside::report(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
                 MAP_FAILED);
}
