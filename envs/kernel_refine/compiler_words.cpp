// Groups diagnostics by severity and spends the bytes on the most useful first.
#include "kernel_refine/compiler_words.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kLineMax = 240;
constexpr std::size_t kClosingRoom = 64;  // for the line that says what was left out
constexpr std::string_view kEllipsis = "…";

enum class Severity { kError, kWarning, kNote };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string head;  ///< its first line
  std::string text;  ///< all of it, each line shortened
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

/// A line that leads up to the next diagnostic rather than explaining the last.
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

/// How many bytes at `at` form one character; 0 when they do not.
std::size_t character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : size;
}

std::size_t boundary_before(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return std::min(at, text.size());
}

}  // namespace

std::string cut_middle(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max < kEllipsis.size()) return {};
  const std::size_t room = bytes_max - kEllipsis.size();
  const std::size_t head = boundary_before(text, room - room / 3);
  std::size_t tail = text.size() - room / 3;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80) ++tail;
  return std::string(text.substr(0, head)) + std::string(kEllipsis) +
         std::string(text.substr(tail));
}

std::string cut_end(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max < kEllipsis.size()) return {};
  return std::string(text.substr(0, boundary_before(text, bytes_max - kEllipsis.size()))) +
         std::string(kEllipsis);
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text, at);
    valid += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return valid;
}

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
