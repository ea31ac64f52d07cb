// Parameters: what a plugin can be told, declared once; describe() shows them and Config is checked
// against them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/plugin/failure.hpp"
#include "hone/plugin/reader.hpp"
#include "hone/plugin/value.hpp"

namespace hone::plugin {

/// One parameter. A nil default means that it must be given.
struct Parameter {
  std::string name;
  std::string type;  ///< "float", "int", "bool" or "str"
  Value fallback;
  std::string doc;
  double low = -kUnbounded, high = kUnbounded;  ///< inclusive, for numbers
  std::vector<std::string> choices;             ///< for "str"; empty: any
};
using Parameters = std::vector<Parameter>;

inline Parameter number_parameter(std::string name, double fallback, double low, double high,
                                  std::string doc) {
  return {std::move(name), "float", fallback, std::move(doc), low, high, {}};
}
inline Parameter integer_parameter(std::string name, std::int64_t fallback, std::int64_t low,
                                   std::int64_t high, std::string doc) {
  return {std::move(name),           "int", fallback, std::move(doc), static_cast<double>(low),
          static_cast<double>(high), {}};
}
inline Parameter flag_parameter(std::string name, bool fallback, std::string doc) {
  return {std::move(name), "bool", fallback, std::move(doc), -kUnbounded, kUnbounded, {}};
}
inline Parameter choice_parameter(std::string name, std::string fallback,
                                  std::vector<std::string> choices, std::string doc) {
  return {std::move(name), "str",      std::move(fallback), std::move(doc),
          -kUnbounded,     kUnbounded, std::move(choices)};
}
/// A text that must be given: `fallback` nil; else optional.
inline Parameter text_parameter(std::string name, Value fallback, std::string doc) {
  return {std::move(name), "str", std::move(fallback), std::move(doc), -kUnbounded, kUnbounded, {}};
}

inline Value bound_value(double bound) { return std::isfinite(bound) ? Value(bound) : Value(); }

/// {name: {"type", "default", "doc", "range"?, "choices"?}, …}
inline Value parameters_value(const Parameters& parameters) {
  Value all = Value::map();
  for (const Parameter& p : parameters) {
    Value one = Value::map({{"type", p.type}, {"default", p.fallback}, {"doc", p.doc}});
    if (std::isfinite(p.low) || std::isfinite(p.high)) {
      one.set("range", Value::array({bound_value(p.low), bound_value(p.high)}));
    }
    if (!p.choices.empty()) {
      Value choices = Value::array();
      for (const std::string& choice : p.choices) choices.push(choice);
      one.set("choices", std::move(choices));
    }
    all.set(p.name, std::move(one));
  }
  return all;
}

/// A configuration that has been checked: every parameter has a value of its type and in its range.
class Config {
 public:
  /// Refuses unknown keys (with the nearest valid one), wrong types, values out of range and
  /// missing ones.
  Config(const Value& map, const Parameters& parameters) {
    Reader reader(map, "config");
    for (const Parameter& p : parameters) {
      if (reader.value_or_null(p.name) == nullptr && !p.fallback.is_nil()) {
        values_.set(p.name, p.fallback);
      } else {
        values_.set(p.name, read(reader, p));
      }
    }
    reader.finish();
  }

  double number(std::string_view name) const { return values_.at(name).as_double(); }
  std::int64_t integer(std::string_view name) const { return values_.at(name).as_int(); }
  bool flag(std::string_view name) const { return values_.at(name).as_bool(); }
  const std::string& text(std::string_view name) const { return values_.at(name).as_string(); }

 private:
  static Value read(Reader& reader, const Parameter& p) {
    if (p.type == "float") return reader.number(p.name, p.low, p.high);
    if (p.type == "int") {
      const Value& found = reader.value(p.name);
      if (!found.is_int()) {
        reader.mistake(p.name, "expected an integer, found " + std::string(found.type_name()));
      }
      reader.number(p.name, p.low, p.high);
      return found;
    }
    if (p.type == "bool") return reader.flag(p.name);
    return p.choices.empty() ? reader.text(p.name) : reader.choice(p.name, p.choices);
  }

  Value values_ = Value::map();
};

}  // namespace hone::plugin
