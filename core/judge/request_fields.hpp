// Members of the host's requests to a judge, each with a value for one that is absent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/value.hpp"

namespace hone {

inline std::uint64_t seed_of(const Value& request) {
  const Value* seed = request.find("seed");
  return seed != nullptr && seed->is_int() ? static_cast<std::uint64_t>(seed->as_int()) : 0;
}

inline std::string text_of(const Value& request, std::string_view key) {
  const Value* text = request.find(key);
  return text != nullptr && text->is_string() ? text->as_string() : "";
}

inline bool flag_of(const Value& request, std::string_view key) {
  const Value* flag = request.find(key);
  return flag != nullptr && *flag == Value(true);
}

inline std::int64_t integer_of(const Value& request, std::string_view key) {
  const Value* number = request.find(key);
  return number != nullptr && number->is_int() ? number->as_int() : -1;
}

}  // namespace hone
