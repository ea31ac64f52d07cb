// YAML text as a Value, with the line of everything in it: configuration, and task files of
// plugins.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Limits of a document.
struct YamlLimits {
  std::size_t bytes_max = 4u << 20;
  std::size_t depth_max = 32;
  std::size_t values_max = 1u << 18;
  /// Total length of the pointers in `lines`: each value below a long key has a long pointer.
  std::size_t pointer_bytes_max = 64u << 20;
};

struct YamlDocument {
  Value value;
  std::map<std::string, int, std::less<>>
      lines;  ///< JSON pointer → line, from 1; "" is the document

  /// {"value": …, "lines": {…}}, as hone_host::parse_yaml gives it to plugins.
  Value to_value() const;
};

/// Parses one document of plain YAML 1.2 data: maps with text keys, lists, text, numbers, true,
/// false and null. Errors are invalid_argument "name:LINE: …": anchors, aliases, tags, merge keys, duplicate keys, a second document, invalid UTF-8, and values over a limit. An empty document is nil.
///
///   HONE_ASSIGN(const YamlDocument document, parse_yaml("turns: 4", "hone.yaml"));
///   document.lines.at("/turns");   // 1
Result<YamlDocument> parse_yaml(std::string_view text, std::string_view name,
                                const YamlLimits& limits = {});

/// One step of a JSON pointer: "~" and "/" escaped.
std::string pointer_token(std::string_view key);

}  // namespace hone
