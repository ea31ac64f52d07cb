// Filters line by line: keeps messages about the submission with their excerpts, and removes paths from all
// others.
#include "evaluate/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace hone {
namespace {

/// Messages of torch and the backends for an access outside allocated memory.
constexpr std::string_view kKernelFaults[] = {"illegal memory access", "misaligned address"};

// Exceptions of an author's mistake, which occur on any device.
constexpr std::string_view kMistakes[] = {
    "TypeError",           "NameError",         "AttributeError", "ImportError",
    "ModuleNotFoundError", "IndexError",        "KeyError",       "SyntaxError",
    "AssertionError",      "UnboundLocalError", "ValueError",     "ZeroDivisionError",
    "NotImplementedError"};

// Names of Python functions that compile or load code. A submission that hides its use of them is only
// treated more strictly.
constexpr std::string_view kExtension = "cpp_extension";
constexpr std::string_view kWaysToBringCode[] = {kExtension, "ctypes", "cffi",
                                                 "cupy",     "numba",  "_compile_kernel"};

constexpr std::string_view kHeapNames[] = {"malloc", "hidden_heap", "hidden_hostcall"};

template <std::size_t count>
bool contains_any(std::string_view text, const std::string_view (&names)[count]) {
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

bool is_excerpt(std::string_view line) {
  std::size_t i = 0;
  while (i < line.size() && (line[i] == ' ' || std::isdigit(static_cast<unsigned char>(line[i]))))
    ++i;
  return i > 0 && i < line.size() && line[i] == '|';
}

/// "/usr/include/c++/12/vector:12:3: error: text" → "in <vector>: error: text"; empty if it is not an error
/// in a header.
std::string header_error(std::string_view line) {
  const std::size_t at = line.find(": error: ");
  if (line.empty() || line[0] != '/' || at == std::string_view::npos) return {};
  std::string_view path = line.substr(0, line.find(':'));
  path.remove_prefix(path.rfind('/') + 1);
  return "in <" + std::string(path) + ">" + std::string(line.substr(at));
}

/// The linker's message without the names of objects.
std::string linker_error(std::string_view line) {
  for (const std::string_view complaint : {"undefined reference to ", "multiple definition of "}) {
    const std::size_t at = line.find(complaint);
    if (at == std::string_view::npos) continue;
    const std::size_t end = line.find(';', at);
    return "link error: " +
           std::string(line.substr(at, end == std::string_view::npos ? end : end - at));
  }
  const std::string_view required = "required symbol ";
  if (const std::size_t at = line.find(required); at != std::string_view::npos) {
    return "link error: " + std::string(line.substr(at)) +
           "; the entry must be defined and declared extern \"C\"";
  }
  return {};
}

}  // namespace

Diagnostics submission_diagnostics(std::string_view words, std::string_view source_name,
                                   std::size_t bytes_max) {
  const std::string prefix = std::string(source_name) + ":";
  Diagnostics found;
  std::string& kept = found.text;
  bool keeping = false, has_error = false;
  while (!words.empty() && kept.size() < bytes_max) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    const std::string_view line = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    std::string out;
    if (line.substr(0, prefix.size()) == prefix && line.find(".text") == std::string_view::npos) {
      keeping = true;
      out = line;
      has_error = has_error || line.find("error: ") != std::string_view::npos;
    } else if (keeping && is_excerpt(line)) {
      out = line;
    } else {
      keeping = false;
      out = linker_error(line);
      found.of_linker = found.of_linker || (!has_error && !out.empty());
      if (out.empty()) out = header_error(line);
      has_error = has_error || !out.empty();
    }
    if (!out.empty()) kept += out + "\n";
  }
  if (kept.size() > bytes_max) kept.resize(bytes_max);
  return found;
}

ExceptionCause exception_cause(std::string_view message) {
  if (std::any_of(std::begin(kMistakes), std::end(kMistakes),
                  [&](std::string_view name) { return message.starts_with(name); }))
    return ExceptionCause::kMistake;
  const bool fault = contains_any(message, kKernelFaults);
  return fault ? ExceptionCause::kKernelFault : ExceptionCause::kUnknown;
}

bool builds_extensions(std::string_view source) {
  return source.find(kExtension) != std::string_view::npos;
}

bool may_bring_code(std::string_view source) { return contains_any(source, kWaysToBringCode); }

bool uses_heap(std::string_view artifact) { return contains_any(artifact, kHeapNames); }

}  // namespace hone
