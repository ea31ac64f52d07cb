// Settings that tests change while the device is in use: files next to the library, which sandboxed processes can read.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include "driver.hpp"

namespace hone_emulated {
namespace {

constexpr std::size_t kProcessesMax = 254;

/// What all processes that use the device say of themselves; the file's content.
struct Used {
  std::atomic<std::uint64_t> allocations;
  struct One {
    std::atomic<std::int64_t> pid;
    std::atomic<std::uint64_t> bytes;
  } processes[kProcessesMax];
};

std::string beside(const char* name) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&beside), &self) == 0) return {};
  std::string path = self.dli_fname;
  path.erase(path.rfind('/') + 1);
  return path + name;
}

Used* map_used() {
  const int fd = open(beside("emulated_memory_used").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = ftruncate(fd, sizeof(Used)) == 0
                     ? mmap(nullptr, sizeof(Used), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Used*>(memory);
}

Used* used() {
  static Used* const all = map_used();
  return all;
}

bool is_alive(std::int64_t pid) {
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH);
}

}  // namespace

bool lies_beside(const char* name) { return access(beside(name).c_str(), F_OK) == 0; }

constexpr const char* kContextsLost = "emulated_contexts_lost";
const bool was_written_before = lies_beside(kContextsLost);

int device_count() {
  std::ifstream file(beside("emulated_devices"));
  int count = 0;
  return file >> count ? count : 1;
}

bool is_listed(const char* name, int ordinal) {
  std::ifstream file(beside(name));
  for (int one = 0; file >> one;) {
    if (one == ordinal) return true;
  }
  return false;
}

std::uint64_t memory_bytes() {
  std::ifstream file(beside("emulated_memory"));
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : kMemoryBytes;
}

std::uint64_t used_by_others() {
  std::uint64_t bytes = 0;
  if (used() == nullptr) return 0;
  for (const Used::One& one : used()->processes) {
    if (one.pid != getpid() && is_alive(one.pid)) bytes += one.bytes;
  }
  return bytes;
}

void note_used(std::uint64_t bytes) {
  if (used() == nullptr) return;
  for (Used::One& one : used()->processes) {
    std::int64_t pid = one.pid;
    if (pid != getpid() && (is_alive(pid) || !one.pid.compare_exchange_strong(
                                                 pid, static_cast<std::int64_t>(getpid()))))
      continue;
    one.bytes = bytes;
    return;
  }
}

bool has_lost_contexts() { return !was_written_before && lies_beside(kContextsLost); }

bool is_to_fail() {
  if (used() == nullptr) return false;
  const std::uint64_t number = ++used()->allocations;
  std::ifstream file(beside("emulated_failures"));
  std::uint64_t after = 0, count = 0;
  return file >> after >> count && number > after && number - after <= count;
}

}  // namespace hone_emulated
