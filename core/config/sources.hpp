// Sources: the place of each value of a configuration: a line of its file, or a --set option.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/yaml.hpp"

namespace hone {

struct Sources {
  std::string name;  ///< the file's
  YamlDocument document;
  std::map<std::string, std::string, std::less<>> sets;  ///< pointer → "--set key=value"

  /// Place of the innermost value that encloses `pointer`; "" for a default. `exact`: a line of the file counts only for its own value.
  std::string find(std::string_view pointer, bool exact) const;
  /// Writes the value of "key=value" into the document, and replaces the place of the value by this option.
  Status apply_set(const std::string& set);
};

}  // namespace hone
