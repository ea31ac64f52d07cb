// Value: open-ended data (configuration, tasks, verdicts, message bodies), with MessagePack and
// JSON forms.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// nil, bool, integer (int64), float (double), text, bytes, array or map with text keys in their
/// order. A plain value: copy it, compare it. Maps are small; look-up is linear.
///
///   Value v = Value::map({{"turn", 2}, {"reward", 0.5}, {"tags", Value::array({"a", "b"})}});
///   if (const Value* turn = v.find("turn")) use(turn->as_int());
class Value {
 public:
  using Array = std::vector<Value>;
  using Entry = std::pair<std::string, Value>;
  using Map = std::vector<Entry>;
  struct Bytes {
    std::string data;
    bool operator==(const Bytes&) const = default;
  };

  // Constructors are defined in value.cpp, so that other files need not compile them.
  Value() noexcept;
  Value(std::nullptr_t) noexcept;  // NOLINT: literals convert
  Value(bool v) noexcept;          // NOLINT
  Value(int v) noexcept;           // NOLINT
  Value(unsigned v) noexcept;      // NOLINT
  Value(std::int64_t v) noexcept;  // NOLINT
  Value(std::size_t v) noexcept;   // NOLINT: sizes are below 2^63
  Value(double v) noexcept;        // NOLINT
  Value(const char* v);            // NOLINT
  Value(std::string_view v);       // NOLINT
  Value(std::string v) noexcept;   // NOLINT
  Value(Bytes v) noexcept;         // NOLINT
  Value(Array v) noexcept;         // NOLINT
  Value(Map v) noexcept;           // NOLINT
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  static Value array(std::initializer_list<Value> items = {});
  static Value map(std::initializer_list<Entry> entries = {});
  static Value bytes(std::string_view data);

  bool is_nil() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_int() || is_float(); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_bytes() const { return std::holds_alternative<Bytes>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_map() const { return std::holds_alternative<Map>(data_); }

  // Each asserts its type. Check the type first, or read through Fields (model/fields.hpp).
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  ///< integers are converted
  const std::string& as_string() const;
  const std::string& as_bytes() const;
  const Array& as_array() const;
  Array& as_array();
  const Map& as_map() const;
  Map& as_map();

  /// The member of a map; nullptr if this is not a map or has no such member.
  const Value* find(std::string_view key) const;
  /// Sets a member of a map. A nil becomes a map first. An existing member keeps its position.
  Value& set(std::string_view key, Value value);
  /// Appends to an array (a nil becomes an array first).
  Value& push(Value value);

  /// "nil", "bool", "int", "float", "string", "bytes", "array" or "map".
  std::string_view type_name() const;

  bool operator==(const Value& other) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Array, Map> data_;
};

/// For data that may lack members or have them with another type: the member, or nil if `map` is no map or has none.
const Value& member_or_nil(const Value& map, std::string_view key);
/// The number; NaN if the value is none.
double number_or_nan(const Value& value);
/// The text; "" if the value is none.
std::string text_or_empty(const Value& value);
/// nil if the number is NaN or infinite.
Value finite_or_nil(double number);
const Value::Array& list_or_empty(const Value& value);
const Value::Map& map_or_empty(const Value& value);

/// An array of texts.
Value texts_value(const std::vector<std::string>& texts);

/// Limits of a decoder. The defaults are for untrusted messages; hone's own files may need larger ones.
struct CodecLimits {
  std::size_t depth_max = 32;
  std::size_t items_max = 65536;      ///< per array or map
  std::size_t values_max = 1u << 20;  ///< in total
  std::size_t bytes_max = 16u << 20;  ///< per string or binary
};

std::string to_msgpack(const Value& value);
/// Decodes exactly one value. Trailing bytes, extension types, keys that are not text, duplicate keys,
/// integers beyond int64 and anything over a limit are invalid_argument.
Result<Value> from_msgpack(std::string_view bytes, const CodecLimits& limits = {});

/// JSON text. Bytes become {"$bytes": base64}; NaN and infinities become null. indent < 0: one
/// line.
std::string to_json(const Value& value, int indent = -1);
/// Safe for untrusted text: all limits but bytes_max apply. Duplicate keys and integers beyond int64 are
/// invalid_argument. An escape that is half of a surrogate pair becomes U+FFFD.
Result<Value> from_json(std::string_view text, const CodecLimits& limits = {});

}  // namespace hone
