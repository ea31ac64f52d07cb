// Tries: to make zeros by punching holes into the arena, for which the judge would pay when it
// looks. Stopped by: the filter knows no such advice.
#include <stdint.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  bool out = madvise(inside::pages().answers, 4096, MADV_REMOVE) == 0;
  inside::report(out);
}
