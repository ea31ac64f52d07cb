// Constructors and accessors of Value.
#include "model/value.hpp"

#include <cmath>
#include <limits>

#include "base/assert.hpp"

namespace hone {
namespace {

template <typename T, typename Variant>
auto& checked(Variant& data) {
  auto* held = std::get_if<T>(&data);
  HONE_ASSERT(held != nullptr);
  return *held;
}

}  // namespace

Value::Value() noexcept = default;
Value::Value(std::nullptr_t) noexcept {}
Value::Value(bool v) noexcept : data_(v) {}
Value::Value(int v) noexcept : data_(std::int64_t{v}) {}
Value::Value(unsigned v) noexcept : data_(std::int64_t{v}) {}
Value::Value(std::int64_t v) noexcept : data_(v) {}
Value::Value(std::size_t v) noexcept : data_(static_cast<std::int64_t>(v)) {}
Value::Value(double v) noexcept : data_(v) {}
Value::Value(const char* v) : data_(std::string(v)) {}
Value::Value(std::string_view v) : data_(std::string(v)) {}
Value::Value(std::string v) noexcept : data_(std::move(v)) {}
Value::Value(Bytes v) noexcept : data_(std::move(v)) {}
Value::Value(Array v) noexcept : data_(std::move(v)) {}
Value::Value(Map v) noexcept : data_(std::move(v)) {}
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;
bool Value::operator==(const Value& other) const { return data_ == other.data_; }

Value Value::array(std::initializer_list<Value> items) { return Array(items); }
Value Value::map(std::initializer_list<Entry> entries) { return Map(entries); }
Value Value::bytes(std::string_view data) { return Bytes{std::string(data)}; }

bool Value::as_bool() const { return checked<bool>(data_); }
std::int64_t Value::as_int() const { return checked<std::int64_t>(data_); }
double Value::as_double() const {
  return is_int() ? static_cast<double>(as_int()) : checked<double>(data_);
}
const std::string& Value::as_string() const { return checked<std::string>(data_); }
const std::string& Value::as_bytes() const { return checked<Bytes>(data_).data; }
const Value::Array& Value::as_array() const { return checked<Array>(data_); }
Value::Array& Value::as_array() { return checked<Array>(data_); }
const Value::Map& Value::as_map() const { return checked<Map>(data_); }
Value::Map& Value::as_map() { return checked<Map>(data_); }

const Value* Value::find(std::string_view key) const {
  const Map* map = std::get_if<Map>(&data_);
  if (map == nullptr) return nullptr;
  for (const Entry& entry : *map) {
    if (entry.first == key) return &entry.second;
  }
  return nullptr;
}

Value& Value::set(std::string_view key, Value value) {
  if (is_nil()) data_ = Map();
  Map& map = as_map();
  for (Entry& entry : map) {
    if (entry.first == key) {
      entry.second = std::move(value);
      return *this;
    }
  }
  map.emplace_back(std::string(key), std::move(value));
  return *this;
}

Value& Value::push(Value value) {
  if (is_nil()) data_ = Array();
  as_array().push_back(std::move(value));
  return *this;
}

std::string_view Value::type_name() const {
  static constexpr std::string_view kNames[] = {"nil",    "bool",  "int",   "float",
                                                "string", "bytes", "array", "map"};
  return kNames[data_.index()];
}

const Value& member_or_nil(const Value& map, std::string_view key) {
  static const Value nil;
  const Value* found = map.is_map() ? map.find(key) : nullptr;
  return found != nullptr ? *found : nil;
}

double number_or_nan(const Value& value) {
  return value.is_number() ? value.as_double() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_or_empty(const Value& value) { return value.is_string() ? value.as_string() : ""; }

Value finite_or_nil(double number) { return std::isfinite(number) ? Value(number) : Value(); }

const Value::Array& list_or_empty(const Value& value) {
  static const Value::Array none;
  return value.is_array() ? value.as_array() : none;
}

const Value::Map& map_or_empty(const Value& value) {
  static const Value::Map none;
  return value.is_map() ? value.as_map() : none;
}

Value texts_value(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

}  // namespace hone
