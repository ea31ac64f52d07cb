// nice values of processes and of their scheduling groups.
#include "base/priority.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/unique_fd.hpp"

namespace hone {

void set_priority(pid_t pid, int nice) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(pid), nice);
  const std::string path =
      "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid)) + "/autogroup";
  const UniqueFd group(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!group) return;  // a kernel without such groups
  const std::string text = std::to_string(nice);
  [[maybe_unused]] const ssize_t written = write(group.get(), text.data(), text.size());
}

void set_priority_of_threads(pid_t pid, int nice) {
  set_priority(pid, nice);
  std::error_code error;
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator thread(threads, error), end; !error && thread != end;
       thread.increment(error)) {
    const int number = std::atoi(thread->path().filename().c_str());
    setpriority(PRIO_PROCESS, static_cast<id_t>(number), nice);
  }
}

}  // namespace hone
