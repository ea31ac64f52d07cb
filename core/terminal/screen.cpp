// Escape sequences of the alternate screen, the mode of the terminal, and signals.
#include "terminal/screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

// Alternate screen, no cursor, no line wrapping (some characters are two columns wide); and back.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr std::string_view kLeave = "\033[?7h\033[?25h\033[?1049l";

constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kCrashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kChanges[] = {SIGWINCH, SIGTSTP};
constexpr std::size_t kSignals = std::size(kStops) + std::size(kCrashes) + std::size(kChanges);

/// The state that signal handlers use. Screen::open() sets it.
struct State {
  int pipe[2] = {-1, -1};
  termios before = {};
  bool has_mode = false;  // standard input is a terminal, and `before` its mode
  std::atomic<bool> is_entered{false}, is_stopping{false};
  struct sigaction actions[kSignals];
};
State g_state;

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the terminal is gone
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void enter() {
  if (g_state.has_mode) {
    termios mode = g_state.before;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    static_cast<void>(tcsetattr(STDIN_FILENO, TCSANOW, &mode));
  }
  g_state.is_entered = true;
  write_all(kEnter);
}

/// Only calls functions that a signal handler may call.
void leave() {
  if (!g_state.is_entered.exchange(false)) return;
  write_all(kLeave);
  if (g_state.has_mode) static_cast<void>(tcsetattr(STDIN_FILENO, TCSANOW, &g_state.before));
}

extern "C" void note_signal(int number) {
  const int error_number = errno;
  const bool stops = std::find(std::begin(kStops), std::end(kStops), number) != std::end(kStops);
  if (stops && g_state.is_stopping.exchange(true)) {
    leave();
    _exit(128 + number);
  }
  const auto byte = static_cast<unsigned char>(number);
  static_cast<void>(!::write(g_state.pipe[1], &byte, 1));  // full: wait() wakes anyway
  errno = error_number;
}

/// SA_RESETHAND has removed this handler, so raise() performs the default action.
extern "C" void restore_and_crash(int number) {
  leave();
  static_cast<void>(raise(number));
}

void catch_signals() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  std::size_t i = 0;
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : kStops) sigaction(number, &action, &g_state.actions[i++]);
  for (const int number : kChanges) sigaction(number, &action, &g_state.actions[i++]);
  action.sa_handler = restore_and_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int number : kCrashes) sigaction(number, &action, &g_state.actions[i++]);
}

void release_signals() {
  std::size_t i = 0;
  for (const int number : kStops) sigaction(number, &g_state.actions[i++], nullptr);
  for (const int number : kChanges) sigaction(number, &g_state.actions[i++], nullptr);
  for (const int number : kCrashes) sigaction(number, &g_state.actions[i++], nullptr);
}

/// The first `columns` code points.
std::string first_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && shown++ == columns) break;
  }
  return std::string(text.substr(0, end));
}

}  // namespace

std::vector<std::string> painted(const Terminal& terminal, const std::vector<Row>& rows,
                                 std::size_t columns) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    std::size_t left = columns == 0 ? std::string::npos : columns;
    for (const Cell& cell : row) {
      const std::string text = first_columns(printable(cell.text), left);
      if (left != std::string::npos) left -= text_width(text);
      line += terminal.paint(cell.colour, text);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Result<std::unique_ptr<Screen>> Screen::open() {
  HONE_ASSERT(!g_state.is_entered);
  if (isatty(STDOUT_FILENO) != 1) return failed_precondition("standard output is not a terminal");
  if (::pipe2(g_state.pipe, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("pipe2", errno);
  g_state.has_mode = tcgetattr(STDIN_FILENO, &g_state.before) == 0;
  g_state.is_stopping = false;
  catch_signals();
  enter();
  return std::unique_ptr<Screen>(new Screen());
}

Screen::~Screen() {
  leave();
  release_signals();
  for (int& end : g_state.pipe) {
    ::close(end);
    end = -1;
  }
}

Screen::Size Screen::size() const {
  winsize size = {};
  Size known;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    known = {size.ws_col, size.ws_row};
  return known;
}

void Screen::show(const std::vector<std::string>& lines) {
  const std::size_t rows = std::min(lines.size(), size().rows);
  std::string text = "\033[H";
  for (std::size_t i = 0; i < rows; ++i) text += (i == 0 ? "" : "\r\n") + lines[i] + "\033[K";
  write_all(text + "\033[J");
}

Screen::Event Screen::wait(int timeout_ms) {
  const double until_s = monotonic_s() + timeout_ms / 1e3;
  for (;;) {
    pollfd waits[] = {{g_state.pipe[0], POLLIN, 0}, {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
    const double left_ms = std::max(0.0, (until_s - monotonic_s()) * 1e3);
    const int ready = ::poll(waits, std::size(waits), static_cast<int>(left_ms + 0.999));
    if (ready == 0) return Event::kTimeout;
    if (ready < 0 && errno != EINTR) return Event::kQuit;
    if (ready < 0) continue;
    if (const Event event = read_signals(); event != Event::kTimeout) return event;
    if (waits[1].revents == 0) continue;
    if (const Event event = read_keys(); event != Event::kTimeout) return event;
  }
}

Screen::Event Screen::read_keys() {
  char keys[64];
  const ssize_t n = ::read(STDIN_FILENO, keys, sizeof keys);
  if (n <= 0) {
    has_keys_ = n < 0 && (errno == EINTR || errno == EAGAIN);
    return Event::kTimeout;
  }
  const bool quits = std::any_of(keys, keys + n, [](char key) { return key == 'q' || key == 'Q'; });
  return quits ? Event::kQuit : Event::kTimeout;
}

Screen::Event Screen::read_signals() {
  unsigned char number = 0;
  Event event = Event::kTimeout;
  while (::read(g_state.pipe[0], &number, 1) == 1) {
    if (number == SIGTSTP) {
      leave();
      static_cast<void>(raise(SIGSTOP));
      enter();
    }
    if (number != SIGWINCH && number != SIGTSTP) return Event::kQuit;
    event = Event::kResized;
  }
  return event;
}

}  // namespace hone
