// Groups diagnostics by severity and spends the bytes on the most useful first.
#include "kernel_refine/compiler_words.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kLineMax = 240;
constexpr std::size_t kClosingRoom = 64;  // reserve for the last line, which reports omissions

enum class Severity { kError, kWarning, kNote };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string head;  ///< its first line
  std::string text;  ///< all lines, each shortened
};

bool is_head(std::string_view line, Severity& severity) {
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (has(" error: ") || has("fatal error: ") || has("undefined reference") || has("error: ")) {
    severity = Severity::kError;
  } else if (has("warning: ")) {
    severity = Severity::kWarning;
  } else if (has("note: ")) {
    severity = Severity::kNote;
  } else {
    return false;
  }
  return true;
}

/// A line that introduces the next diagnostic instead of explaining the last one.
bool leads(std::string_view line) {
  return line.find(": In ") != std::string_view::npos ||
         line.find("In file included from") != std::string_view::npos ||
         line.substr(0, 4) == "from";
}

std::vector<Diagnostic> split(std::string_view text) {
  std::vector<Diagnostic> found;
  std::string lead;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string shown = cut_middle(line, kLineMax) + "\n";
    Severity severity = Severity::kError;
    if (is_head(line, severity)) {
      found.push_back({severity, std::string(line), lead + shown});
      lead.clear();
    } else if (leads(line) || found.empty()) {
      lead += shown;
    } else {
      found.back().text += shown;
    }
  }
  if (!lead.empty()) found.push_back({Severity::kNote, {}, lead});
  return found;
}

}  // namespace

std::string trim_compiler_words(std::string_view diagnostics, std::size_t bytes_max) {
  std::vector<Diagnostic> all = split(diagnostics);
  if (diagnostics.size() <= bytes_max && all.size() <= 1) return std::string(diagnostics);
  std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.severity < b.severity;
  });
  const std::size_t room = bytes_max > kClosingRoom ? bytes_max - kClosingRoom : 0;
  std::string kept;
  std::set<std::string> told;
  std::size_t errors_left_out = 0, others_left_out = 0;
  for (const Diagnostic& one : all) {
    if (!one.head.empty() && !told.insert(one.head).second) continue;
    if (kept.size() + one.text.size() <= room) {
      kept += one.text;
    } else if (kept.empty()) {
      kept = cut_end(one.text, room) + "\n";
    } else {
      ++(one.severity == Severity::kError ? errors_left_out : others_left_out);
    }
  }
  if (errors_left_out + others_left_out > 0) {
    kept += "(left out: " + std::to_string(errors_left_out) + " errors, " +
            std::to_string(others_left_out) + " warnings and notes)\n";
  }
  return cut_end(kept, bytes_max);
}

}  // namespace hone::kernel_refine
