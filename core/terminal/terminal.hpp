// Terminal: output of commands: colours, progress lines, aligned tables, and errors with advice.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// What hone exits with.
enum ExitCode : int {
  kExitOk = 0,
  kExitNo = 1,     ///< success with a negative result: not correct, not valid, not admitted
  kExitUsage = 2,  ///< the caller must change what it asks
  kExitFault = 3,  ///< the machine or hone failed
};
ExitCode exit_code_for(Code code);

enum class Colour { kPlain, kBold, kDim, kRed, kGreen, kYellow, kBlue };

struct Cell {
  std::string text;
  Colour colour = Colour::kPlain;
  bool right = false;  ///< aligned to the right: numbers

  Cell(std::string t, Colour c = Colour::kPlain, bool r = false)  // NOLINT: text is a cell
      : text(std::move(t)), colour(c), right(r) {}
  Cell(const char* t) : text(t) {}  // NOLINT
};
using Row = std::vector<Cell>;

/// Standard output and error of this process. One thread.
///
///   terminal.table({"task", "title"}, {{"add_relu", "Add, then ReLU"}});
///   terminal.status("building…");   // overwritten by the next line; only on a terminal
class Terminal {
 public:
  /// Colours when standard output is a terminal and NO_COLOR is not set; progress when standard
  /// error is one.
  Terminal();
  Terminal(bool colours, bool progress) : colours_(colours), progress_(progress) {}
  ~Terminal() { clear_status(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::string paint(Colour colour, std::string_view text) const;
  void line(std::string_view text = {});
  /// Text that ends its own lines.
  void text(std::string_view text);
  /// Width of the terminal that standard output is, or 80.
  std::size_t columns() const;
  void json(const Value& value, int indent = -1) { line(to_json(value, indent)); }
  /// Cells may contain untrusted text: line ends and control characters are replaced.
  void table(const std::vector<std::string>& header, const std::vector<Row>& rows);

  /// Replaces the progress line; no effect without a terminal.
  void status(std::string_view text);
  void clear_status();

  /// Prints "hone: message" and the advice in `next`; returns the exit code.
  int fail(const Error& error, std::string_view next = {});

 private:
  const bool colours_, progress_;
  bool status_shown_ = false;
};

/// Shows each step of a start on the progress line: "starting the launcher…".
std::function<void(std::string_view what)> show_steps(Terminal& terminal);

/// "1.94×", "12.3 ms": a few significant digits.
std::string short_number(double number, int digits = 3);

/// "a, b, c".
std::string joined(const std::vector<std::string>& parts, std::string_view between = ", ");

/// How many columns it takes: code points, not bytes.
std::size_t text_width(std::string_view text);

}  // namespace hone
