// Applies --set options to a document, and keeps the places of its values.
#include "config/sources.hpp"

#include <algorithm>

namespace hone {
namespace {

/// The member of a map or list that one part of a key names; created if missing.
Result<Value*> step_into(Value& at, const std::string& part, const std::string& whole) {
  if (at.is_nil()) at = Value::map();
  if (at.is_array()) {
    const bool number = !part.empty() && part.size() < 6 &&
                        part.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t index =
        number ? static_cast<std::size_t>(std::stoul(part)) : at.as_array().size();
    if (index >= at.as_array().size()) {
      return invalid_argument("--set " + whole + ": found '" + part +
                              "', expected an index below " + std::to_string(at.as_array().size()));
    }
    return &at.as_array()[index];
  }
  if (!at.is_map()) {
    return invalid_argument("--set " + whole + ": '" + part + "' is inside a " +
                            std::string(at.type_name()));
  }
  for (auto& [key, member] : at.as_map()) {
    if (key == part) return &member;
  }
  at.as_map().emplace_back(part, Value());
  return &at.as_map().back().second;
}

/// Removes the places of `pointer` and of the values inside it.
template <class Places>
void forget(Places& places, const std::string& pointer) {
  std::erase_if(places, [&](const auto& place) {
    return place.first == pointer || place.first.starts_with(pointer + "/");
  });
}

}  // namespace

std::string Sources::find(std::string_view pointer, bool exact) const {
  for (std::string_view at = pointer;; at = at.substr(0, at.rfind('/'))) {
    if (const auto set = sets.find(at); set != sets.end()) return set->second;
    if (const auto line = document.lines.find(at);
        line != document.lines.end() && (!exact || at == pointer)) {
      return name + ":" + std::to_string(line->second);
    }
    if (!exact && at == pointer) {  // created by a --set of a value inside it
      const auto inside = sets.lower_bound(std::string(at) + "/");
      if (inside != sets.end() && inside->first.starts_with(std::string(at) + "/")) {
        return inside->second;
      }
    }
    if (at.empty()) return "";
  }
}

Status Sources::apply_set(const std::string& set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos || equals == 0) {
    return invalid_argument("--set " + set + ": expected key=value, such as server.lease_s=60");
  }
  HONE_ASSIGN(const YamlDocument parsed, parse_yaml(set.substr(equals + 1), "--set " + set));
  Value* at = &document.value;
  std::string pointer;
  for (std::size_t start = 0; start <= equals;) {
    const std::size_t end = std::min(set.find('.', start), equals);
    const std::string part = set.substr(start, end - start);
    HONE_ASSIGN(at, step_into(*at, part, set));
    pointer += "/" + pointer_token(part);
    start = end + 1;
  }
  *at = parsed.value;
  forget(document.lines, pointer);
  forget(sets, pointer);
  sets[pointer] = "--set " + set;
  return {};
}

}  // namespace hone
