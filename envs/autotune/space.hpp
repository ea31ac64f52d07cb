// Choice: one point of autotune's search space, with its three forms: values by name, an index, text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone::autotune {

/// A tuning parameter and its possible values, in the order in which an index counts them.
struct Knob {
  std::string_view name;
  std::string_view doc;
  std::vector<Value> values;  ///< integers, or texts
};

/// In order. The last one varies fastest in an index.
const std::vector<Knob>& knobs();

/// The number of choices.
std::int64_t space_size();

/// For each knob the index of its value among knobs()[i].values.
class Choice {
 public:
  static constexpr std::size_t kKnobs = 6;

  /// From 0 to space_size() - 1; other numbers are invalid_argument.
  static Result<Choice> from_index(std::int64_t index);
  /// {"tile_m": 64, …}: exactly all knobs. Errors name the valid values.
  static Result<Choice> from_value(const Value& value);
  /// Parses the last {…} of a text as JSON. not_found: there is none.
  static Result<Choice> from_text(std::string_view text);

  std::int64_t index() const;
  Value value() const;       ///< the form that from_value() reads
  std::string text() const;  ///< "tile_m=64 tile_n=64 …"
  const Value& operator[](std::string_view knob) const;
  bool operator==(const Choice&) const = default;

 private:
  std::array<std::size_t, kKnobs> places_{};
};

/// {"size", "knobs": {name: [values]}, "doc": {name: description}}
Value describe_space();

}  // namespace hone::autotune
