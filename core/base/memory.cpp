// Readers of /proc/PID/statm.
#include "base/memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hone {
namespace {

ProcessMemory read_statm(const std::string& folder) {
  std::ifstream statm(folder + "/statm");
  std::int64_t total = 0, resident = 0, shared = 0;
  statm >> total >> resident >> shared;
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return {resident * page, shared * page};
}

}  // namespace

std::size_t resident_bytes() {
  malloc_trim(0);
  return static_cast<std::size_t>(read_statm("/proc/self").resident);
}

ProcessMemory memory_of(pid_t pid, bool of_threads) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const ProcessMemory first = read_statm(folder);
  if (first.resident > 0 || !of_threads) return first;
  // Its threads share one memory, so the first that has any says it all.
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder + "/task", error), end;
       !error && thread != end; thread.increment(error)) {
    const ProcessMemory found = read_statm(thread->path().string());
    if (found.resident > 0) return found;
  }
  return {};
}

}  // namespace hone
