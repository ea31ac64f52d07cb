// Lays out the text of `--help` in two columns.
#include "cli/help_text.hpp"

#include <algorithm>

#include "base/readable.hpp"

namespace hone {
namespace {

constexpr std::size_t kNameColumn = 30;        // where descriptions of options begin
constexpr std::size_t kCommandColumn = 15;     // the longest command has eleven letters
constexpr std::size_t kDescriptionLeast = 24;  // columns; with fewer, descriptions get own lines
constexpr std::size_t kIndent = 2, kHangingIndent = 6;

class DeclaredOptions : public OptionSet {
 public:
  std::vector<DeclaredOption> all;

  void flag(const OptionSpec& spec, bool&) override { add({.spec = spec}); }
  void text(const OptionSpec& spec, std::string&) override {
    add({.spec = spec, .takes_value = true});
  }
  void texts(const OptionSpec& spec, std::vector<std::string>&) override {
    add({.spec = spec, .takes_value = true, .repeatable = true});
  }
  void integer(const OptionSpec& spec, std::int64_t&, std::int64_t low,
               std::int64_t high) override {
    add({.spec = spec, .takes_value = true, .range = range_text(low, high)});
  }

 private:
  void add(DeclaredOption option) {
    if (!option.spec.hidden) all.push_back(std::move(option));
  }
};

bool is_positional(const DeclaredOption& option) { return option.spec.name.front() != '-'; }

/// The left column: "--count N (2 to 1,000,000)", "--form zero_shot|few_shot", "TASK".
std::string name_text(const DeclaredOption& option) {
  const OptionSpec& spec = option.spec;
  if (is_positional(option)) return spec.name;
  std::string text = spec.name;
  if (!option.takes_value) return text;
  if (!spec.choices.empty()) return text + " " + joined(spec.choices, "|");
  text += " " + (!spec.value.empty() ? spec.value : option.range.empty() ? "TEXT" : "N");
  return option.range.empty() ? text : text + " (" + option.range + ")";
}

std::string description_text(const DeclaredOption& option) {
  std::string text = option.spec.doc;
  if (!is_positional(option)) return text;
  if (!option.spec.choices.empty()) text += ": " + joined(option.spec.choices);
  if (!option.range.empty()) text += " (" + option.range + ")";
  return text;
}

std::string usage_name(const DeclaredOption& option) {
  const std::string name = option.spec.name + (option.repeatable ? "..." : "");
  return option.spec.required ? name : "[" + name + "]";
}

/// Words of `text`, which starts at column `at`; further lines start at column `indent`. A line
/// break of the text stays, and so do spaces that follow it.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent,
                    std::size_t columns, const std::string& line_end = "\n") {
  std::string result;
  std::size_t used = at;
  bool first = true;
  for (std::size_t start = 0; start < text.size();) {
    if (text[start] == '\n') {
      result += "\n" + std::string(indent, ' ');
      used = indent;
      first = true;
      ++start;
      continue;
    }
    // A word with the spaces before it.
    const std::size_t word = std::min(text.find_first_not_of(' ', start), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    const std::size_t width = text_width(text.substr(start, end - start));
    const std::size_t reserve = end == text.size() ? 0 : line_end.size() - 1;
    if (!first && used + width + reserve > columns) {
      result += line_end + std::string(indent, ' ') + text.substr(word, end - word);
      used = indent + text_width(text.substr(word, end - word));
    } else {
      result += text.substr(start, end - start);
      used += width;
    }
    first = false;
    start = end;
  }
  return result;
}

std::string entry(const std::string& name, const std::string& description, std::size_t column,
                  std::size_t columns) {
  std::string line = std::string(kIndent, ' ') + name;
  if (column + kDescriptionLeast > columns) column = kHangingIndent;
  const std::size_t used = text_width(line);
  line += used + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - used, ' ');
  return line + wrapped(description, column, column, columns) + "\n";
}

/// If an example is too long, its comment stands above it, and its command is continued with
/// backslashes, so that it can still be copied.
std::string example_text(const std::string& example, std::size_t columns) {
  const std::string indent(kIndent, ' ');
  if (kIndent + text_width(example) <= columns) return indent + example + "\n";
  const std::size_t comment = example.find(" # ");
  const std::size_t end = example.find_last_not_of(' ', comment);
  const std::string command = example.substr(0, end == std::string::npos ? end : end + 1);
  std::string text;
  if (comment != std::string::npos) {
    const std::string words = example.substr(comment + 1);
    const std::string close = command + "  " + words;
    if (kIndent + text_width(close) <= columns) return indent + close + "\n";
    text = indent + wrapped(words, kIndent, kIndent, columns) + "\n";
  }
  return text + indent + wrapped(command, kIndent, kHangingIndent, columns, " \\\n") + "\n";
}

constexpr const char* kEpilogue[] = {
    "hone demo                        # one episode of four turns, on this machine",
    "hone serve                       # serve trainers on tcp://127.0.0.1:5917",
    "hone eval add_relu kernel.cpp    # judge and time a kernel without a server",
    "hone doctor                      # what this machine supports"};
constexpr const char* kExitStatus =
    "Exit status: 0 success, 1 negative result (not correct, not valid), 2 wrong usage, 3 fault of "
    "hone or the machine.";

}  // namespace

std::string range_text(std::int64_t low, std::int64_t high) {
  if (high == INT64_MAX) return grouped_number(low) + " or more";
  return grouped_number(low) + " to " + grouped_number(high);
}

std::vector<DeclaredOption> declared_options(Command& command) {
  DeclaredOptions declared;
  command.declare(declared);
  declared.all.push_back({.spec = {.name = "-h,--help", .doc = "print this help and exit"}});
  return std::move(declared.all);
}

std::string command_help(Command& command, std::size_t columns) {
  std::string usage = "Usage: hone " + command.name() + " [OPTIONS]", arguments, options;
  for (const DeclaredOption& option : declared_options(command)) {
    if (is_positional(option)) usage += " " + usage_name(option);
    (is_positional(option) ? arguments : options) +=
        entry(name_text(option), description_text(option), kNameColumn, columns);
  }
  std::string text = wrapped(command.summary(), 0, 0, columns) + "\n\n" +
                     wrapped(usage, 0, kHangingIndent, columns) + "\n";
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  text += "\nOptions:\n" + options + "\nExamples:\n";
  for (const std::string& example : command.examples()) text += example_text(example, columns);
  return text;
}

std::string hone_help(const Commands& commands, std::size_t columns) {
  std::string text =
      wrapped("An RL environment server for the refinement of compute kernels.", 0, 0, columns) +
      "\n\nUsage: hone [OPTIONS] COMMAND [...]\n\nCommands:\n";
  for (const auto& command : commands)
    text += entry(command->name(), command->summary(), kCommandColumn, columns);
  text += "\nOptions:\n" + entry("-h,--help", "print this help and exit", kCommandColumn, columns) +
          entry("--version", "print the version and exit", kCommandColumn, columns) +
          "\nExamples:\n";
  for (const char* example : kEpilogue) text += example_text(example, columns);
  return text + "\n" + wrapped(kExitStatus, 0, 0, columns) + "\n";
}

}  // namespace hone
