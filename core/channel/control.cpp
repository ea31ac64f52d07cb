// Shared regions, packet sockets and futexes.
#include "channel/control.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "hone/backend.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace hone {
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Result<UniqueFd> shared_region(const char* name, std::size_t bytes) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return system_error("ftruncate", errno);
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return system_error("seal", errno);
  return fd;
}

Status forbid_further_writers(int fd) {
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    return system_error("seal against writers", errno);
  }
  return {};
}

void populate(char* base, std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  static_cast<void>(::madvise(base, bytes, MADV_POPULATE_WRITE));
#else
  static_cast<void>(base);
  static_cast<void>(bytes);
#endif
}

Result<void*> map_region(int fd, std::size_t bytes, bool writable) {
  void* at = mmap(nullptr, bytes, PROT_READ | (writable ? PROT_WRITE : 0),
                  MAP_SHARED | MAP_POPULATE, fd, 0);
  if (at == MAP_FAILED) return system_error("mmap of a shared region", errno);
  return at;
}

Result<std::pair<UniqueFd, UniqueFd>> packet_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("socketpair", errno);
  return std::make_pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t while_value,
                double timeout_s) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout_s);
  limit.tv_nsec = static_cast<long>((timeout_s - static_cast<double>(limit.tv_sec)) * 1e9);
  syscall(SYS_futex, &word, FUTEX_WAIT, while_value, timeout_s < 0 ? nullptr : &limit, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::optional<ExtensionKind> hindered_kind(std::uint32_t flags) {
  if ((flags & HONE_PYTHON_HINDERED_DEVICE) != 0) return ExtensionKind::kDevice;
  if ((flags & HONE_PYTHON_HINDERED_HOST) != 0) return ExtensionKind::kHost;
  return std::nullopt;
}

}  // namespace hone
