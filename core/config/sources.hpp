// Sources: where each value of a configuration was said, in its file or by the command line.
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

  /// Of the innermost that encloses it; "" where nobody said it. `exact`: a line of the file counts for its own value
  /// alone.
  std::string find(std::string_view pointer, bool exact) const;
  /// Puts what "key=value" says in the document's place for it, and itself in the place of what was said there.
  Status apply_set(const std::string& set);
};

}  // namespace hone
