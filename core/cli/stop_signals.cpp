// A pipe that the handler writes into.
#include "cli/stop_signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace hone {
namespace {

int g_stop_pipe[2] = {-1, -1};  // written by the handler; made before it is installed

void on_stop(int) {
  const int saved = errno;
  (void)!write(g_stop_pipe[1], "s", 1);
  errno = saved;
}

}  // namespace

Status catch_stop_signals() {
  if (pipe2(g_stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("pipe", errno);
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM}) {
    if (sigaction(number, &action, nullptr) != 0) return system_error("sigaction", errno);
  }
  std::signal(SIGPIPE, SIG_IGN);
  return {};
}

bool stop_asked(int timeout_ms) {
  pollfd waiting{g_stop_pipe[0], POLLIN, 0};
  return poll(&waiting, 1, timeout_ms) > 0;
}

LogLevel log_level_of(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return name == "off" ? LogLevel::kOff : LogLevel::kInfo;
}

}  // namespace hone
