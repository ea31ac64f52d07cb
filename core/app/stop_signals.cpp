// A pipe that the handlers write into.
#include "app/stop_signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "base/unique_fd.hpp"

namespace hone {
namespace {

int g_stop_pipe[2] = {-1, -1};  // written by the handlers; made before they are installed

volatile std::sig_atomic_t g_stop_signal = 0;
volatile std::sig_atomic_t g_reload = 0;

// Of reload_on_hangup(): whether a hang-up stops the process once its terminal is gone.
bool g_has_terminal = false;

void wake() {
  const int saved = errno;
  (void)!write(g_stop_pipe[1], "s", 1);
  errno = saved;
}

/// The second signal, of either number, ends the process as if it were not caught.
void on_stop(int number) {
  if (g_stop_signal != 0) {
    std::signal(number, SIG_DFL);
    raise(number);
    return;
  }
  g_stop_signal = number;
  wake();
}

void on_reload(int) {
  g_reload = 1;
  wake();
}

/// Whether this process has a controlling terminal. It has none after the terminal was closed.
bool terminal_exists() {
  const UniqueFd terminal(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return static_cast<bool>(terminal);
}

std::string g_last_words;  // made before the handler is installed

/// SA_RESETHAND has restored the default action of the signal.
void say_and_end(int number) {
  (void)!write(STDERR_FILENO, g_last_words.data(), g_last_words.size());
  raise(number);
}

Status on_stop_signals(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_RESTART;
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
  HONE_TRY(on_stop_signals(on_stop, 0));
  std::signal(SIGPIPE, SIG_IGN);
  return {};
}

Status say_when_stopped(const std::string& words) {
  g_last_words = "\n" + words + "\n";
  return on_stop_signals(say_and_end, static_cast<int>(SA_RESETHAND));
}

Status reload_on_hangup() {
  struct sigaction action {
  }, former{};
  action.sa_handler = on_reload;
  action.sa_flags = SA_RESTART;
  if (sigaction(SIGHUP, &action, &former) != 0) return system_error("sigaction", errno);
  g_has_terminal = former.sa_handler != SIG_IGN && terminal_exists();
  return {};
}

int stop_asked(int timeout_ms) {
  if (g_stop_signal != 0) return g_stop_signal;
  pollfd waiting{g_stop_pipe[0], POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) > 0) {
    char bytes[64];
    (void)!read(g_stop_pipe[0], bytes, sizeof bytes);
  }
  return g_stop_signal;
}

bool reload_asked() {
  if (g_reload == 0) return false;
  g_reload = 0;
  if (!g_has_terminal || terminal_exists()) return true;
  g_stop_signal = SIGHUP;
  return false;
}

std::string stop_signal_name(int number) {
  if (number == SIGHUP) return "SIGHUP";
  return number == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace hone
