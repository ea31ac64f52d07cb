// Theory of operation. nvdisasm prints a section for each kernel:
//
//   //--------------------- .text.add                 --------------------------
//   	.section	.text.add,"ax",@progbits
//   add:
//   .text.add:
//   	//## File "/folder/submission.py", line 7
//           /*0000*/              @!P0 BRA `(.L_x_0) ;
//   .L_x_0:
//
// The image that nvdisasm reads is untrusted: its names may contain line ends, so any line can be forged. A forged line
// changes only the text of its own image.
#include "examine/machine_code.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::for_each_line;
using examine::is_symbol_character;
using examine::take_number;
using examine::trimmed;

constexpr std::string_view kSectionEnd = "//-----", kSection = "\t.section\t.text.",
                           kFileLine = "//## File \"";
constexpr std::size_t kInstructionMax = 200, kLabelMax = 100, kFileMax = 60, kOpcodeMax = 24;
constexpr std::size_t kPredicateWidth = 6, kLineColumn = 72;

/// A label, or an instruction. Both are views of the listing.
struct CodeLine {
  bool is_label = false;
  std::string_view text;  ///< without address and semicolon
  std::string_view file;  ///< of instructions; empty: unknown
  std::int64_t line = 0;
};

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// Calls take(name) for each name of the instruction: "BRA" and ".L_x_0" of "BRA `(.L_x_0)".
template <typename Take>
void for_each_symbol(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_symbol_character);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length > 0) take(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

/// Takes "@!P0" from the instruction; empty if it has no predicate.
std::string_view take_predicate(std::string_view& text) {
  if (!text.starts_with("@")) return {};
  const std::string_view predicate = text.substr(0, text.find(' '));
  text = trimmed(text.substr(predicate.size()));
  return predicate;
}

/// "LDG" of "LDG.E.128 R0, …"; empty if the text begins with something else.
std::string_view opcode_of(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && ((text[length] >= 'A' && text[length] <= 'Z') ||
                                  (text[length] >= '0' && text[length] <= '9')))
    ++length;
  return length <= kOpcodeMax ? text.substr(0, length) : std::string_view();
}

/// Collects the lines of one section.
class Section {
 public:
  explicit Section(std::string_view name) : name_(name) {}

  void read(std::string_view line) {
    const bool is_label =
        line.size() > 1 && line.back() == ':' && line[0] != ' ' && line[0] != '\t';
    if (is_label) return read_label(line.substr(0, line.size() - 1));
    line = trimmed(line);
    if (line.starts_with(kFileLine)) return read_place(line.substr(kFileLine.size()));
    if (line.starts_with("/*")) read_instruction(line);
  }

  MachineCode finish() {
    while (!lines_.empty() && (lines_.back().is_label || opcode_of(lines_.back().text) == "NOP"))
      lines_.pop_back();
    std::set<std::string_view> labels, named;
    for (const CodeLine& line : lines_)
      if (line.is_label) labels.insert(line.text);
    for (const CodeLine& line : lines_) {
      if (line.is_label) continue;
      for_each_symbol(line.text, [&](std::string_view name) {
        if (labels.count(name) != 0) named.insert(name);
      });
    }
    for (const CodeLine& line : lines_) {
      if (!line.is_label) {
        add(line);
      } else if (named.count(line.text) != 0) {
        code_.text += printable_ascii(line.text, kLabelMax) + ":\n";
      }
    }
    return std::move(code_);
  }

 private:
  void read_label(std::string_view label) {
    if (label != name_ && !label.starts_with(".text.")) lines_.push_back({true, label, {}, 0});
  }
  void read_place(std::string_view rest) {
    constexpr std::string_view kLine = "\", line ";
    const std::size_t end = rest.find(kLine);
    if (end == std::string_view::npos) return;
    const std::string_view path = rest.substr(0, end);
    rest.remove_prefix(end + kLine.size());
    file_ = path.substr(path.rfind('/') + 1);
    line_ = std::max<std::int64_t>(take_number(rest), 0);
  }
  void read_instruction(std::string_view line) {
    const std::size_t address_end = line.find("*/");
    if (address_end == std::string_view::npos) return;
    line.remove_prefix(address_end + 2);
    line = trimmed(line.substr(0, line.rfind(';')));
    if (!line.empty()) lines_.push_back({false, line, file_, line_});
  }

  void add(const CodeLine& line) {
    std::string_view rest = line.text;
    const std::string_view predicate = take_predicate(rest);
    ++code_.instructions;
    const std::string opcode(opcode_of(rest));
    if (!opcode.empty() && (code_.opcodes.size() < kOpcodesMax || code_.opcodes.count(opcode) != 0))
      ++code_.opcodes[opcode];
    std::string text = "  " + padded(printable_ascii(predicate, kPredicateWidth), kPredicateWidth) +
                       printable_ascii(without_quotes(rest), kInstructionMax);
    if (line.line > 0 && std::pair(line.file, line.line) != shown_) {
      shown_ = {line.file, line.line};
      text = padded(std::move(text), kLineColumn) + " // " + printable_ascii(line.file, kFileMax) +
             ":" + std::to_string(line.line);
    }
    code_.text += text + "\n";
  }
  /// "BRA .L_x_0" for "BRA `(.L_x_0)".
  static std::string without_quotes(std::string_view text) {
    const std::size_t begin = text.find("`("), end = text.find(')', begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(text);
    return std::string(text.substr(0, begin)) +
           std::string(text.substr(begin + 2, end - begin - 2)) + std::string(text.substr(end + 1));
  }

  std::string_view name_, file_;
  std::int64_t line_ = 0;
  std::vector<CodeLine> lines_;
  std::pair<std::string_view, std::int64_t> shown_;
  MachineCode code_;
};

/// The kernel of a line such as `.section .text.add,"ax",@progbits`; empty for other lines.
std::string_view kernel_of_section(std::string_view line) {
  if (!line.starts_with(kSection)) return {};
  line.remove_prefix(kSection.size());
  const std::size_t end = line.rfind(",\"ax\"");
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

}  // namespace

std::map<std::string, MachineCode, std::less<>> read_machine_code(std::string_view listing) {
  std::map<std::string, MachineCode, std::less<>> kernels;
  std::string_view name;
  Section section("");
  const auto finish = [&] {
    if (!name.empty()) kernels.try_emplace(std::string(name), section.finish());
    name = {};
  };
  for_each_line(listing, [&](std::string_view line) {
    if (const std::string_view kernel = kernel_of_section(line); !kernel.empty()) {
      finish();
      name = kernel;
      section = Section(kernel);
    } else if (line.starts_with(kSectionEnd)) {
      finish();
    } else if (!name.empty()) {
      section.read(line);
    }
  });
  finish();
  return kernels;
}

}  // namespace hone
