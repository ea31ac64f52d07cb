// Checks the size and the functions of a factory table, for the typed wrappers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "plugin/plugin_library.hpp"

namespace hone {

/// The table with this id, if it is at least as large as the host's: this is the first version of
/// each.
template <typename Factory>
Result<const Factory*> checked_factory(const PluginLibrary& library, std::string_view id) {
  HONE_ASSIGN(const void* table, library.factory(id));
  const auto* factory = static_cast<const Factory*>(table);
  if (factory->struct_size < sizeof(Factory)) {
    return invalid_argument(library.file() + ": " + std::string(id) + " of " +
                            std::to_string(factory->struct_size) + " bytes, expected at least " +
                            std::to_string(sizeof(Factory)));
  }
  return factory;
}

/// Each function by name and whether it is there.
inline Status check_functions(const PluginLibrary& library,
                              std::initializer_list<std::pair<std::string_view, bool>> functions) {
  for (const auto& [name, present] : functions) {
    if (!present)
      return invalid_argument(library.file() + ": function " + std::string(name) + " is null");
  }
  return {};
}

}  // namespace hone
