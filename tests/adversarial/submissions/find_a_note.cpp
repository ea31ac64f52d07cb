// Tries: to read what an earlier submission left in memory, and leaves a note of its own for the
// next: in its arena, on its heap and on its stack. Stopped by: a process and an arena of its own
// for each submission, which the kernel hands out cleared. (The test runs it several times in a
// row.)
#include <stdlib.h>
#include <string.h>

#include "inside.hpp"
constexpr size_t kWords = size_t{8} << 20;
static const char kNote[] = "left by an earlier submission!!";  // 32 bytes
static bool has_note(const char* from, size_t bytes) {
  for (size_t at = 0; at + sizeof kNote <= bytes; at += sizeof kNote) {
    if (memcmp(from + at, kNote, sizeof kNote) == 0) return true;
  }
  return false;
}
static void leave(char* to, size_t bytes) {
  for (size_t at = 0; at + sizeof kNote <= bytes; at += sizeof kNote)
    memcpy(to + at, kNote, sizeof kNote);
}
/// Mapped pages from the arena's first tensor on.
static bool look_around(const void* from) {
  const auto first = reinterpret_cast<uint64_t>(from) / 4096 * 4096;
  bool found = false;
  for (uint64_t page = first; page < first + (uint64_t{32} << 20) && inside::is_mapped(page);
       page += 4096)
    found = found || has_note(reinterpret_cast<const char*>(page), 4096);
  return found;
}
[[gnu::noinline]] static bool use_the_stack(bool look) {
  char old[1 << 18];
  asm volatile("" : : "r"(old) : "memory");
  const bool found = look && has_note(old, sizeof old);
  leave(old, sizeof old);
  asm volatile("" : : "r"(old) : "memory");
  return found;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  if (n < 1048576) return;  // the shape that is checked without guard pages in between
  static char* heap = nullptr;
  bool found = false;
  if (heap == nullptr) {
    heap = static_cast<char*>(malloc(kWords));
    asm volatile("" : "+r"(heap));
    found = has_note(heap, kWords) || use_the_stack(true) || look_around(x);
    leave(heap, kWords);
    use_the_stack(false);
  }
  leave(reinterpret_cast<char*>(out), 4 * static_cast<size_t>(n));
  if (!has_note(heap, kWords) ||
      !has_note(reinterpret_cast<char*>(out), 4 * static_cast<size_t>(n)))
    throw inside::Report("is blind");
  inside::report(found);
}
