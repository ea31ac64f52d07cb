// A pipe that the handler writes into.
#include "app/stop_signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace hone {
namespace {

int g_stop_pipe[2] = {-1, -1};  // written by the handler; made before it is installed

volatile std::sig_atomic_t g_stop_signal = 0;

void on_stop(int number) {
  const int saved = errno;
  g_stop_signal = number;
  (void)!write(g_stop_pipe[1], "s", 1);
  errno = saved;
}

std::string g_last_words;  // made before the handler is installed

/// SA_RESETHAND has restored the default action of the signal.
void say_and_end(int number) {
  (void)!write(STDERR_FILENO, g_last_words.data(), g_last_words.size());
  raise(number);
}

/// Only the first signal is reported.
Status on_stop_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction former {};
    if (sigaction(number, nullptr, &former) != 0) return system_error("sigaction", errno);
    if (number == SIGHUP && former.sa_handler == SIG_IGN) continue;
    if (sigaction(number, &action, nullptr) != 0) return system_error("sigaction", errno);
  }
  return {};
}

}  // namespace

Status catch_stop_signals() {
  if (pipe2(g_stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("pipe", errno);
  HONE_TRY(on_stop_signals(on_stop));
  std::signal(SIGPIPE, SIG_IGN);
  return {};
}

Status say_when_stopped(const std::string& words) {
  g_last_words = "\n" + words + "\n";
  return on_stop_signals(say_and_end);
}

int stop_asked(int timeout_ms) {
  pollfd waiting{g_stop_pipe[0], POLLIN, 0};
  return poll(&waiting, 1, timeout_ms) > 0 ? g_stop_signal : 0;
}

std::string stop_signal_name(int number) {
  if (number == SIGHUP) return "SIGHUP";
  return number == SIGINT ? "SIGINT" : "SIGTERM";
}

LogLevel log_level_of(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return name == "off" ? LogLevel::kOff : LogLevel::kInfo;
}

}  // namespace hone
