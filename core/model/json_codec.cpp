// Conversion between Value and JSON: the one file that includes nlohmann/json.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "model/value.hpp"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

Json encode(const Value& value) {
  if (value.is_nil()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_float()) return std::isfinite(value.as_double()) ? Json(value.as_double()) : Json();
  if (value.is_string()) return value.as_string();
  if (value.is_bytes()) return Json{{"$bytes", to_base64(value.as_bytes())}};
  if (value.is_array()) {
    Json array = Json::array();
    for (const Value& item : value.as_array()) array.push_back(encode(item));
    return array;
  }
  Json object = Json::object();
  // Rationale: nlohmann's own insertion searches all members for the key first.
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(value.as_map().size());
  for (const auto& [key, item] : value.as_map()) members.emplace_back(key, encode(item));
  return object;
}

/// The UTF-16 code unit of the escape (\\u and four hex digits) at `at`; 0 if there is none.
unsigned escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text.substr(at, 2) != "\\u") return 0;
  const char* digits = text.data() + at + 2;
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  return error == std::errc() && end == digits + 4 ? unit : 0;
}

/// Replaces escapes that are half of a surrogate pair by U+FFFD, as other parsers do. An answer that was
/// truncated within a character contains one.
std::string with_whole_characters(std::string_view json) {
  constexpr unsigned kHigh = 0xd800 >> 10, kLow = 0xdc00 >> 10;
  std::string text(json);
  for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const unsigned half = escaped_unit(text, at) >> 10;
    if (half == kHigh && escaped_unit(text, at + 6) >> 10 == kLow) {
      at += 12;
    } else if (half == kHigh || half == kLow) {
      text.replace(at, 6, "\\ufffd");
      at += 6;
    } else {
      at += 2;
    }
  }
  return text;
}

std::string in_quotes(std::string_view text) { return "'" + cut_end(text, 128) + "'"; }

/// A duplicate key, if there is one.
const std::string* twice(const Value::Map& map) {
  std::vector<const std::string*> keys;
  keys.reserve(map.size());
  for (const auto& [key, item] : map) keys.push_back(&key);
  std::sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return *a < *b; });
  const auto found =
      std::adjacent_find(keys.begin(), keys.end(), [](auto* a, auto* b) { return *a == *b; });
  return found == keys.end() ? nullptr : *found;
}

/// Builds a Value from the parser's events, in time proportional to the text.
class Maker final : public nlohmann::json_sax<Json> {
 public:
  Result<Value> take() {
    if (!error_.empty()) return invalid_argument("json: " + error_);
    return std::move(whole_);
  }

  bool null() override { return add(Value()); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(std::int64_t v) override { return add(v); }
  bool number_unsigned(std::uint64_t v) override {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return v > kMost ? beyond(std::to_string(v)) : add(static_cast<std::int64_t>(v));
  }
  /// The parser makes a float of an integer that is out of range.
  bool number_float(double v, const std::string& text) override {
    return text.find_first_of(".eE") == std::string::npos ? beyond(text) : add(v);
  }
  bool string(std::string& v) override { return add(std::move(v)); }
  bool binary(Json::binary_t&) override { return fail("bytes"); }
  bool key(std::string& v) override {
    open_.back().key = std::move(v);
    return true;
  }
  bool start_object(std::size_t) override { return start(Value::map()); }
  bool start_array(std::size_t) override { return start(Value::array()); }
  bool end_array() override { return end(); }
  bool end_object() override {
    const std::string* key = twice(open_.back().value.as_map());
    return key != nullptr ? fail("duplicate key " + in_quotes(*key)) : end();
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    const bool number = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    return fail((number ? place() : "") +
                cut_middle(error.what(), 256));  // the parser quotes its last token in full
  }

 private:
  struct Open {
    Value value;
    std::string key;  ///< of the next member
  };
  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }
  bool beyond(const std::string& text) {
    return fail(place() + "integer beyond int64: " + in_quotes(text));
  }
  /// "options/seed: "
  std::string place() const {
    std::string keys;
    for (const Open& in : open_) {
      if (!in.key.empty()) keys += (keys.empty() ? "" : "/") + cut_end(in.key, 128);
    }
    return keys.empty() ? keys : keys + ": ";
  }
  bool start(Value value) {
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool end() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(Value value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (Open& in = open_.back(); in.value.is_array()) {
      in.value.as_array().push_back(std::move(value));
    } else {
      in.value.as_map().emplace_back(std::move(in.key), std::move(value));
    }
    return true;
  }

  std::vector<Open> open_;
  Value whole_;
  std::string error_;
};

/// Refuses text that would make a tree too deep or too large, before the tree is built.
Status check_limits(std::string_view text, const CodecLimits& limits) {
  std::vector<std::size_t> items;  // of the open containers
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
  Maker maker;
  try {
    static_cast<void>(Json::sax_parse(with_whole_characters(text), &maker));
  } catch (const std::exception& error) {
    return invalid_argument(std::string("json: ") + error.what());
  }
  return maker.take();
}

}  // namespace hone
