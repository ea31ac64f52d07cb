// Tries: to reserve memory until there is none. Stopped by: a limit on its address space.
#include <stdint.h>

#include <cstddef>
#include <new>
static void* volatile last;
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  for (;;) last = ::operator new (std::size_t{64} << 20);
}
