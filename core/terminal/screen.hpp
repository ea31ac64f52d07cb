// Screen: the whole window of a terminal, for a program that redraws it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Rows as text of at most `columns` columns each. Cells may contain untrusted text (printable() of base/utf8.hpp).
/// Columns are counted in code points; 0: no limit.
std::vector<std::string> painted(const Terminal& terminal, const std::vector<Row>& rows,
                                 std::size_t columns);

/// The alternate screen of standard output. At most one exists at a time. One thread.
///
/// Theory of operation. Standard input is read key by key, without echo. The destructor restores the terminal. The handlers
/// of a crash signal and of a second stop signal restore it, too. Ctrl-Z restores it until the program continues.
///
///   HONE_ASSIGN(const auto screen, Screen::open());
///   while (screen->wait(1000) != Screen::Event::kQuit) screen->show(lines_for(screen->size()));
class Screen {
 public:
  struct Size {
    std::size_t columns = 80, rows = 24;
  };
  enum class Event {
    kTimeout,
    kResized,
    kQuit,  ///< the key q, or SIGINT, SIGTERM, SIGHUP or SIGQUIT
  };

  /// failed_precondition: standard output is not a terminal.
  static Result<std::unique_ptr<Screen>> open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  Size size() const;
  /// Replaces what the window shows. Lines beyond its last row are left out.
  void show(const std::vector<std::string>& lines);
  /// Waits for a key, a signal or a change of the window's size. Other keys are ignored.
  Event wait(int timeout_ms);

 private:
  Screen() = default;
  Event read_keys();
  Event read_signals();
  bool has_keys_ = true;  // false once standard input has ended
};

}  // namespace hone
