// Value: open-ended data inside a plugin (configuration, verdicts, tasks), the shape of what
// crosses the ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/plugin/failure.hpp"

namespace hone::plugin {

/// nil, bool, integer (int64), float (double), text, bytes, array or map with text keys in their
/// order. A plain value. Look-up in a map is linear. An accessor of the wrong type throws a
/// Failure.
///
///   Value v = Value::map({{"turn", 2}, {"tags", Value::array({"a", "b"})}});
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

  Value() = default;
  Value(std::nullptr_t) {}                                       // NOLINT: literals convert
  Value(bool v) : data_(v) {}                                    // NOLINT
  Value(int v) : data_(std::int64_t{v}) {}                       // NOLINT
  Value(unsigned v) : data_(std::int64_t{v}) {}                  // NOLINT
  Value(std::int64_t v) : data_(v) {}                            // NOLINT
  Value(std::size_t v) : data_(static_cast<std::int64_t>(v)) {}  // NOLINT: sizes are below 2^63
  Value(double v) : data_(v) {}                                  // NOLINT
  Value(const char* v) : data_(std::string(v)) {}                // NOLINT
  Value(std::string_view v) : data_(std::string(v)) {}           // NOLINT
  Value(std::string v) : data_(std::move(v)) {}                  // NOLINT
  Value(Bytes v) : data_(std::move(v)) {}                        // NOLINT
  Value(Array v) : data_(std::move(v)) {}                        // NOLINT
  Value(Map v) : data_(std::move(v)) {}                          // NOLINT

  static Value array(std::initializer_list<Value> items = {}) { return Value(Array(items)); }
  static Value map(std::initializer_list<Entry> entries = {}) { return Value(Map(entries)); }
  static Value bytes(std::string_view data) { return Value(Bytes{std::string(data)}); }

  bool is_nil() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_int() || is_float(); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_bytes() const { return std::holds_alternative<Bytes>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_map() const { return std::holds_alternative<Map>(data_); }

  bool as_bool() const { return get<bool>("bool"); }
  std::int64_t as_int() const { return get<std::int64_t>("int"); }
  /// Integers too.
  double as_double() const {
    if (is_int()) return static_cast<double>(as_int());
    return get<double>("float");
  }
  const std::string& as_string() const { return get<std::string>("string"); }
  const std::string& as_bytes() const { return get<Bytes>("bytes").data; }
  const Array& as_array() const { return get<Array>("array"); }
  Array& as_array() { return const_cast<Array&>(std::as_const(*this).as_array()); }
  const Map& as_map() const { return get<Map>("map"); }
  Map& as_map() { return const_cast<Map&>(std::as_const(*this).as_map()); }

  /// The member of a map, or nullptr when this is no map or has none of that name.
  const Value* find(std::string_view key) const {
    if (!is_map()) return nullptr;
    for (const Entry& entry : as_map()) {
      if (entry.first == key) return &entry.second;
    }
    return nullptr;
  }
  /// The member of a map; a Failure when it is missing.
  const Value& at(std::string_view key) const {
    if (const Value* found = find(key)) return *found;
    fail(HONE_INVALID_ARGUMENT,
         "missing '" + std::string(key) + "' in a " + std::string(type_name()));
  }
  /// Sets a member of a map (a nil becomes a map first); keeps the place of one that is there.
  Value& set(std::string_view key, Value value) {
    if (is_nil()) data_ = Map{};
    for (Entry& entry : as_map()) {
      if (entry.first == key) return entry.second = std::move(value);
    }
    as_map().emplace_back(std::string(key), std::move(value));
    return as_map().back().second;
  }
  /// Appends to an array (a nil becomes an array first).
  Value& push(Value value) {
    if (is_nil()) data_ = Array{};
    as_array().push_back(std::move(value));
    return as_array().back();
  }

  /// "nil", "bool", "int", "float", "string", "bytes", "array" or "map".
  std::string_view type_name() const {
    constexpr std::string_view kNames[] = {"nil",    "bool",  "int",   "float",
                                           "string", "bytes", "array", "map"};
    // A variant that an exception emptied counts as nil.
    return kNames[data_.index() < std::size(kNames) ? data_.index() : 0];
  }

  bool operator==(const Value&) const = default;

 private:
  template <typename T>
  const T& get(std::string_view expected) const {
    if (const T* found = std::get_if<T>(&data_)) return *found;
    fail(HONE_INVALID_ARGUMENT,
         "expected " + std::string(expected) + ", found " + std::string(type_name()));
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Array, Map> data_;
};

}  // namespace hone::plugin
