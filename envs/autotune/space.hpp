// Choice: one point of the space that autotune searches, and its forms: knobs by name, a number, text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone::autotune {

/// A decision and what it may be. Values stand in the order in which an index counts them.
struct Knob {
  std::string_view name;
  std::string_view doc;
  std::vector<Value> values;  ///< integers, or texts
};

/// In their order; the last one turns fastest in an index.
const std::vector<Knob>& knobs();

/// How many choices there are.
std::int64_t space_size();

/// For each knob the place of its value among knobs()[i].values.
class Choice {
 public:
  static constexpr std::size_t kKnobs = 6;

  /// 0 … space_size() - 1; other numbers are invalid_argument.
  static Result<Choice> from_index(std::int64_t index);
  /// {"tile_m": 64, …}: every knob, and nothing else. Mistakes name what is valid.
  static Result<Choice> from_value(const Value& value);
  /// The last {…} of a text, as JSON. not_found: there is none.
  static Result<Choice> from_text(std::string_view text);

  std::int64_t index() const;
  Value value() const;       ///< what from_value() reads
  std::string text() const;  ///< "tile_m=64 tile_n=64 …"
  const Value& operator[](std::string_view knob) const;
  bool operator==(const Choice&) const = default;

 private:
  std::array<std::size_t, kKnobs> places_{};
};

/// {"size", "knobs": {name: [values]}, "doc": {name: what it is}}
Value describe_space();

}  // namespace hone::autotune
