// Environment, descriptors and thread of a process that has just started.
#include "starting_acts.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>

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

}  // namespace

std::map<std::string, std::function<long(const std::string&)>> starting_acts() {
  using S = const std::string&;
  return {{"environment", [](S) { return print_environment(); }},
          {"open-descriptors", [](S) { return print_descriptors(); }},
          {"thread-number", [](S) { return compare_thread_numbers(); }}};
}

}  // namespace hone
