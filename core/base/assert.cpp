// Prints a failed assertion and aborts.
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace hone {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
  std::abort();
}

}  // namespace hone
