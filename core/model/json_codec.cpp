// Value to and from JSON: the one file that includes nlohmann/json.
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/value.hpp"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

std::string base64(std::string_view data) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < data.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t n = std::min<std::size_t>(3, data.size() - i);
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < n ? static_cast<std::uint8_t>(data[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= n ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

Json encode(const Value& value) {
  if (value.is_nil()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_float()) return std::isfinite(value.as_double()) ? Json(value.as_double()) : Json();
  if (value.is_string()) return value.as_string();
  if (value.is_bytes()) return Json{{"$bytes", base64(value.as_bytes())}};
  if (value.is_array()) {
    Json array = Json::array();
    for (const Value& item : value.as_array()) array.push_back(encode(item));
    return array;
  }
  Json object = Json::object();
  for (const auto& [key, item] : value.as_map()) object[key] = encode(item);
  return object;
}

Result<Value> decode(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
      return Value(json.get<std::int64_t>());
    case Json::value_t::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return invalid_argument("json: an integer beyond int64");
      }
      return Value(static_cast<std::int64_t>(number));
    }
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return Value(json.get<std::string>());
    case Json::value_t::array: {
      Value::Array array;
      for (const Json& item : json) {
        HONE_ASSIGN(Value decoded, decode(item));
        array.push_back(std::move(decoded));
      }
      return Value(std::move(array));
    }
    case Json::value_t::object: {
      Value::Map map;
      for (const auto& [key, item] : json.items()) {
        HONE_ASSIGN(Value decoded, decode(item));
        map.emplace_back(key, std::move(decoded));
      }
      return Value(std::move(map));
    }
    default:
      return Value();
  }
}

/// Refuses text that would make a tree too deep or too large, before any of it is made.
Status check_limits(std::string_view text, const CodecLimits& limits) {
  std::vector<std::size_t> items;  // of the containers that are open
  std::size_t values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      ++values;
      items.push_back(1);
    } else if ((c == ']' || c == '}') && !items.empty()) {
      items.pop_back();
    } else if (c == ',') {
      ++values;
      if (!items.empty() && ++items.back() > limits.items_max) {
        return invalid_argument("json: a list of more than " + std::to_string(limits.items_max) +
                                " items");
      }
    }
    if (items.size() > limits.depth_max) {
      return invalid_argument("json: nested deeper than " + std::to_string(limits.depth_max));
    }
    if (values > limits.values_max) {
      return invalid_argument("json: more than " + std::to_string(limits.values_max) + " values");
    }
  }
  return {};
}

}  // namespace

std::string to_json(const Value& value, int indent) {
  return encode(value).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<Value> from_json(std::string_view text, const CodecLimits& limits) {
  HONE_TRY(check_limits(text, limits));
  try {
    return decode(Json::parse(text));
  } catch (const std::exception& error) {
    return invalid_argument(std::string("json: ") + error.what());
  }
}

}  // namespace hone
