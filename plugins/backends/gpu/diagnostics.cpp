// Line by line, as the host's own reader of diagnostics works.
#include "diagnostics.hpp"

#include <algorithm>
#include <cctype>

namespace hone_gpu {
namespace {

constexpr char kComgrSource[] = "/CompileSource:";
constexpr char kNameMap[] = "__nv_name_map:";
constexpr char kNameMapRepeats[] = "Error in parsing name expression";

/// "path(12): error: text" → "path:12: error: text"; unchanged where it is no such line.
std::string with_colons(std::string_view line) {
  for (std::size_t open = line.find('('); open != std::string_view::npos && open > 0;
       open = line.find('(', open + 1)) {
    std::size_t at = open + 1;
    while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0) ++at;
    if (at > open + 1 && line.substr(at, 3) == "): ") {
      return std::string(line.substr(0, open)) + ":" +
             std::string(line.substr(open + 1, at - open - 1)) + ": " +
             std::string(line.substr(at + 3));
    }
  }
  return std::string(line);
}

/// hiprtc compiles a file of its own that holds the source, and clang one that includes it.
std::string with_own_name(const std::string& line, std::string_view name) {
  const std::size_t at = line.find(kComgrSource);
  if (at != std::string::npos && line[0] == '/' && line.find(' ') > at) {
    return std::string(name) + line.substr(at + sizeof kComgrSource - 2);
  }
  return line.rfind("./", 0) == 0 ? line.substr(2) : line;
}

}  // namespace

std::string normalised(std::string_view words, std::string_view name) {
  std::string out;
  const std::string prefix = std::string(name) + ":";
  bool excerpt = false;
  bool skipping = false;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    const std::string_view line = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    std::string located = with_own_name(with_colons(line), name);
    if (located.rfind(kNameMap, 0) == 0) {
      // The compiler's own text, in which it looked an entry up: there is no line to show.
      skipping = true;
      if (located.find(kNameMapRepeats) != std::string::npos) continue;
      const std::size_t at = located.find(": error: ");
      out += prefix + " error: no kernel for a launch: " +
             (at == std::string::npos ? located : located.substr(at + 9)) + '\n';
      continue;
    }
    if (skipping && !line.empty() && line[0] == ' ') continue;
    skipping = false;
    if (located.rfind(prefix, 0) == 0) {
      excerpt = true;
      out += located;
    } else if (line.rfind("ptxas", 0) == 0) {
      excerpt = false;
      const std::size_t colon = line.find(": ");
      out += prefix + " error: " +
             std::string(colon == std::string_view::npos ? line : line.substr(colon + 2));
    } else if (excerpt && !line.empty() && line[0] == ' ' &&
               line.find('|') == std::string_view::npos) {
      out += "      | " + std::string(line);
    } else {
      excerpt = excerpt && line.find('|') != std::string_view::npos;
      out += located;
    }
    out += '\n';
  }
  return out;
}

}  // namespace hone_gpu
