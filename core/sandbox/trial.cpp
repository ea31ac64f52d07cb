// Trials: fork, run, report through a pipe.
#include "sandbox/trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.hpp"

namespace hone {

Status try_in_child(const std::function<Status()>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("fork", errno);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const Status done = body();
    const std::string& message = done.ok() ? std::string("ok") : done.error().message;
    (void)!::write(writing.get(), message.data(), message.size());
    ::_exit(0);
  }
  writing.reset();
  pollfd answer{reading.get(), POLLIN, 0};
  constexpr int kPatienceMs = 2000;
  char message[512];
  ssize_t size = 0;
  if (::poll(&answer, 1, kPatienceMs) > 0) size = ::read(reading.get(), message, sizeof message);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (size <= 0) return unavailable("the trial died or hung");
  const std::string text(message, static_cast<std::size_t>(size));
  if (text == "ok") return {};
  return unavailable(text);
}

}  // namespace hone
