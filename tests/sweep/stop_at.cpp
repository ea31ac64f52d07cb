// Wraps functions of the C library. The program's own definitions take precedence, also for its libraries.
#include "sweep/stop_at.hpp"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace hone::test {
namespace {

std::atomic<bool> g_counting{false};
std::atomic<std::int64_t> g_operations{0}, g_stop_at{0};

void count() {
  if (!g_counting) return;
  if (++g_operations == g_stop_at) ::_exit(kStopped);
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void stop_at(std::int64_t k) {
  g_operations = 0;
  g_stop_at = k;
  g_counting = true;
}

std::int64_t operations() { return g_operations; }

}  // namespace hone::test

using hone::test::count;
using hone::test::next;

extern "C" {

ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  count();
  return real(fd, from, size, at);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  count();
  return real(fd, from, size, at);
}
int fdatasync(int fd) {
  static auto* const real = next<int(int)>("fdatasync");
  count();
  return real(fd);
}
int fsync(int fd) {
  static auto* const real = next<int(int)>("fsync");
  count();
  return real(fd);
}
int ftruncate64(int fd, off64_t size) noexcept {
  static auto* const real = next<int(int, off64_t)>("ftruncate64");
  count();
  return real(fd, size);
}
int ftruncate(int fd, off_t size) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  count();
  return real(fd, size);
}
ssize_t send(int fd, const void* from, size_t size, int flags) {
  static auto* const real = next<ssize_t(int, const void*, size_t, int)>("send");
  count();
  return real(fd, from, size, flags);
}
ssize_t recv(int fd, void* to, size_t size, int flags) {
  static auto* const real = next<ssize_t(int, void*, size_t, int)>("recv");
  count();
  return real(fd, to, size, flags);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto* const real = next<ssize_t(int, const msghdr*, int)>("sendmsg");
  count();
  return real(fd, message, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static auto* const real = next<ssize_t(int, msghdr*, int)>("recvmsg");
  count();
  return real(fd, message, flags);
}

}  // extern "C"
