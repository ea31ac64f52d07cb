// Clears the stack below the caller.
#include <cstring>

#include "record/plan/work.hpp"

namespace hone::record {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;

}  // namespace

__attribute__((noinline)) void clear_stack() {
  char unused[kStackBytes];
  std::memset(unused, 0, sizeof unused);
  asm volatile("" : : "r"(unused) : "memory");  // so that the writes are kept
}

}  // namespace hone::record
