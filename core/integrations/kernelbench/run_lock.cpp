// An advisory lock on a file that is never removed. Removing it would let two processes hold a lock.
#include "integrations/kernelbench/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/utf8.hpp"

namespace hone {
namespace {

constexpr std::size_t kHolderMax = 300;

/// "process 1234 on HOST", as the holder wrote it.
std::string holder_of(int fd) {
  char text[kHolderMax];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  const std::string said = printable(std::string_view(text, n > 0 ? static_cast<size_t>(n) : 0));
  return said.empty() ? "another process" : said;
}

std::string this_process() {
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  return "process " + std::to_string(::getpid()) + " on " + host;
}

}  // namespace

Result<RunLock> RunLock::take(const std::filesystem::path& folder) {
  const std::string name = (folder / "eval_results.json.lock").string();
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (!fd) return system_error("open " + name, errno);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return system_error("lock " + name, errno);
    return failed_precondition(folder.string() + ": in use by " + holder_of(fd.get()) +
                               ", expected one run at a time; wait for that run, or stop it: the " +
                               "same command continues where it stopped");
  }
  const std::string own = this_process();
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), own.data(), own.size(), 0) < 0) {
    return system_error("write " + name, errno);
  }
  return RunLock(std::move(fd));
}

}  // namespace hone
