// Escape codes, tables and the progress line.
#include "terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.hpp"

namespace hone {
namespace {

constexpr std::size_t kColumns = 80;       // if the terminal reports no width
constexpr std::size_t kColumnsLeast = 10;  // a narrower reported width is taken for an error

const char* escape_of(Colour colour) {
  switch (colour) {
    case Colour::kBold:
      return "\033[1m";
    case Colour::kDim:
      return "\033[2m";
    case Colour::kRed:
      return "\033[31m";
    case Colour::kGreen:
      return "\033[32m";
    case Colour::kYellow:
      return "\033[33m";
    case Colour::kBlue:
      return "\033[36m";
    case Colour::kPlain:
      break;
  }
  return "";
}

bool colours_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

/// Columns of the terminal behind a descriptor.
std::size_t columns_of(int descriptor) {
  winsize size = {};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > kColumnsLeast;
  return known ? size.ws_col : kColumns;
}

void write_out(std::FILE* stream, std::string_view text) {
  // A reader that went away (`hone tasks | head`) ends the process by SIGPIPE; any other failure
  // stays in the stream, where main() looks for it.
  (void)std::fwrite(text.data(), 1, text.size(), stream);
  (void)std::fflush(stream);
}

}  // namespace

ExitCode exit_code_for(Code code) {
  switch (code) {
    case Code::kOk:
      return kExitOk;
    case Code::kInvalidArgument:
    case Code::kNotFound:
      return kExitUsage;
    default:
      return kExitFault;
  }
}

Terminal::Terminal() : Terminal(colours_wanted(), isatty(STDERR_FILENO) == 1) {}

std::string Terminal::paint(Colour colour, std::string_view text) const {
  if (!colours_ || colour == Colour::kPlain || text.empty()) return std::string(text);
  return escape_of(colour) + std::string(text) + "\033[0m";
}

void Terminal::line(std::string_view text) { this->text(std::string(text) + "\n"); }

void Terminal::text(std::string_view text) {
  clear_status();
  write_out(stdout, text);
}

std::size_t Terminal::columns() const { return columns_of(STDOUT_FILENO); }

void Terminal::table(const std::vector<std::string>& header, const std::vector<Row>& given) {
  std::vector<Row> rows = given;
  for (Row& row : rows) {
    for (Cell& cell : row) cell.text = printable(cell.text);
  }
  std::vector<std::size_t> widths;
  for (const std::string& title : header) widths.push_back(text_width(title));
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i].text));
    }
  }
  const auto print_row = [&](const Row& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = text_width(row[i].text);
      const std::string gap(widths[i] > width ? widths[i] - width : 0, ' ');
      if (row[i].right) text += gap;
      text += paint(row[i].colour, row[i].text);
      if (i + 1 < row.size()) text += (row[i].right ? "" : gap) + "  ";
    }
    line(text);
  };
  Row titles;
  for (std::size_t i = 0; i < header.size(); ++i) {
    titles.emplace_back(header[i], Colour::kBold,
                        !rows.empty() && rows[0].size() > i && rows[0][i].right);
  }
  if (!header.empty() && !header[0].empty()) print_row(titles);
  for (const Row& row : rows) print_row(row);
}

void Terminal::status(std::string_view text) {
  if (!progress_) return;
  // A line that wraps could not be replaced by the next one.
  write_out(stderr, "\r\033[K" + cut_end(printable(text), columns_of(STDERR_FILENO) - 1));
  status_shown_ = true;
}

void Terminal::clear_status() {
  if (status_shown_) write_out(stderr, "\r\033[K");
  status_shown_ = false;
}

int Terminal::fail(const Error& error, std::string_view next) {
  clear_status();
  std::string text = "hone: ";
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = error.message.find('\n', at);
    text += printable(std::string_view(error.message).substr(at, end - at)) + "\n";
  }
  if (!next.empty()) text += "  " + std::string(next) + "\n";
  write_out(stderr, text);
  return exit_code_for(error.code);
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

std::function<void(std::string_view what)> show_steps(Terminal& terminal) {
  return [&terminal](std::string_view what) { terminal.status(std::string(what) + "…"); };
}

std::string short_number(double number, int digits) {
  char text[64];
  const double size = std::fabs(number);
  const int before = size < 1 ? 1 : static_cast<int>(std::log10(size)) + 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - before), number);
  return text;
}

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace hone
