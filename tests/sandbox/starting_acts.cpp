// Environment, descriptors and thread of a process that has just started.
#include "starting_acts.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

namespace hone {
namespace {

long print_environment() {
  for (char** each = environ; *each != nullptr; ++each) std::printf("%s\n", *each);
  std::printf("cwd=%s user=%s\n", ::get_current_dir_name(), ::getuid() == 0 ? "root" : "other");
  return 0;
}

/// A lock that may be taken twice notes its owner as the C library knows it.
long compare_thread_numbers() {
  pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  ::pthread_mutex_lock(&lock);
  std::printf("%s\n", lock.__data.__owner == ::gettid() ? "its own" : "another's");
  return 0;
}

long print_descriptors() {
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("%d ", fd);
  }
  std::printf("\n");
  return 0;
}

/// A word as no program's text has it, so that who looks for it does not find itself.
constexpr unsigned char kVeil = 0x5a;
constexpr std::string_view kVeiled = "\x29\x3b\x33\x3e\x77\x38\x23\x77\x3b\x34\x35\x2e\x32\x3f\x28";

long say_the_word() {
  std::string word;
  for (const char each : kVeiled) word += static_cast<char>(each ^ kVeil);
  for (int i = 0; i < 4096; ++i) std::printf("%s\n", word.c_str());
  return 0;
}

bool is_mapped(std::uintptr_t page) {
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(page), 1, &resident) == 0;
}

int count_words(std::uintptr_t from, std::uintptr_t to) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  int count = 0;
  for (std::size_t at = 0; at + kVeiled.size() <= to - from; ++at) {
    std::size_t same = 0;
    while (same < kVeiled.size() &&
           (bytes[at + same] ^ kVeil) == static_cast<unsigned char>(kVeiled[same])) {
      ++same;
    }
    count += same == kVeiled.size() ? 1 : 0;
  }
  return count;
}

/// In the heap, the stack, and what lies about a large block.
long find_the_word() {
  const std::vector<char> large(std::size_t{1} << 20);
  const int of_the_stack = 0;
  int count = 0;
  const std::uintptr_t kPage = 4096;
  for (const void* inside :
       {static_cast<const void*>(static_cast<char*>(::sbrk(0)) - 1),
        static_cast<const void*>(&of_the_stack), static_cast<const void*>(large.data())}) {
    std::uintptr_t from = reinterpret_cast<std::uintptr_t>(inside) & ~(kPage - 1), to = from;
    while (is_mapped(from - kPage)) from -= kPage;
    while (is_mapped(to)) to += kPage;
    count += count_words(from, to);
  }
  std::printf("%d found\n", count);
  return 0;
}

}  // namespace

std::map<std::string, std::function<long(const std::string&)>> starting_acts() {
  using S = const std::string&;
  return {{"environment", [](S) { return print_environment(); }},
          {"say-the-word", [](S) { return say_the_word(); }},
          {"find-the-word", [](S) { return find_the_word(); }},
          {"open-descriptors", [](S) { return print_descriptors(); }},
          {"thread-number", [](S) { return compare_thread_numbers(); }}};
}

}  // namespace hone
