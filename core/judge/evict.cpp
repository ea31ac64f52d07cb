// clflushopt where there is one, else clflush.
#include "judge/evict.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone {
namespace {

constexpr std::uint64_t kLine = 64;

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) void evict_lines(const char* at, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; i += kLine) _mm_clflushopt(const_cast<char*>(at + i));
}

bool has_clflushopt() {
  unsigned a = 7, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (b >> 23 & 1u) != 0;
}
#endif

}  // namespace

void evict(const char* at, std::uint64_t bytes) {
#if defined(__x86_64__)
  static const bool fast = has_clflushopt();
  if (fast) {
    evict_lines(at, bytes);
  } else {
    for (std::uint64_t i = 0; i < bytes; i += kLine) _mm_clflush(at + i);
  }
  _mm_mfence();
#else
  static_cast<void>(at);
  static_cast<void>(bytes);
#endif
}

}  // namespace hone
