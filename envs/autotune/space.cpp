// The knobs, and parsers for choices.
#include "autotune/space.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/utf8.hpp"
#include "model/fields.hpp"

namespace hone::autotune {
namespace {

constexpr std::size_t kShownMax = 64;  // longest quotation of an invalid value (bytes)

std::string shown(const Value& value) {
  return value.is_string() ? value.as_string() : to_json(value);
}

std::string shown(const std::vector<Value>& values) {
  std::string list;
  for (const Value& value : values) list += (list.empty() ? "" : ", ") + shown(value);
  return list;
}

}  // namespace

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> kAll{
      {"tile_m", "rows of c that are worked on before b's tile changes", {16, 64, 256}},
      {"tile_n", "columns of b's tile", {16, 64, 256}},
      {"tile_k", "rows of b's tile: products that are summed before c is stored", {16, 64, 256}},
      {"unroll", "rows of c that are summed at once, in registers", {1, 4, 8}},
      {"vector", "floats in a vector", {1, 4, 8, 16}},
      {"layout",
       "rows: b is read where it lies; packed: its tile is copied first, a vector wide",
       {"rows", "packed"}},
  };
  return kAll;
}

std::int64_t space_size() {
  std::int64_t size = 1;
  for (const Knob& knob : knobs()) size *= static_cast<std::int64_t>(knob.values.size());
  return size;
}

Result<Choice> Choice::from_index(std::int64_t index) {
  if (index < 0 || index >= space_size()) {
    return invalid_argument("index: found " + std::to_string(index) + ", expected 0 to " +
                            std::to_string(space_size() - 1));
  }
  Choice choice;
  for (std::size_t i = kKnobs; i-- > 0;) {
    const auto count = static_cast<std::int64_t>(knobs()[i].values.size());
    choice.places_[i] = static_cast<std::size_t>(index % count);
    index /= count;
  }
  return choice;
}

Result<Choice> Choice::from_value(const Value& value) {
  Fields f(value, "choice");
  Choice choice;
  for (std::size_t i = 0; i < kKnobs; ++i) {
    const Knob& knob = knobs()[i];
    const Value* given = f.value(knob.name);
    if (given == nullptr) continue;  // finish() reports it
    const auto at = std::find(knob.values.begin(), knob.values.end(), *given);
    if (at == knob.values.end()) {
      f.mistake(knob.name, "found " + cut_middle(valid_utf8(shown(*given)), kShownMax) +
                               ", expected one of " + shown(knob.values));
      continue;
    }
    choice.places_[i] = static_cast<std::size_t>(at - knob.values.begin());
  }
  HONE_TRY(f.finish());
  return choice;
}

/// Rationale: a choice has no nested objects, so the last opening brace before the last closing one begins
/// it.
Result<Choice> Choice::from_text(std::string_view text) {
  const std::size_t end = text.rfind('}');
  const std::size_t begin = end == text.npos ? text.npos : text.rfind('{', end);
  if (begin == text.npos) return not_found("no choice found: expected a JSON object {…}");
  const auto read = from_json(text.substr(begin, end - begin + 1));
  if (!read) return read.error().in("choice");
  return from_value(*read);
}

std::int64_t Choice::index() const {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < kKnobs; ++i) {
    index = index * static_cast<std::int64_t>(knobs()[i].values.size()) +
            static_cast<std::int64_t>(places_[i]);
  }
  return index;
}

Value Choice::value() const {
  Value value = Value::map();
  for (const Knob& knob : knobs()) value.set(knob.name, (*this)[knob.name]);
  return value;
}

std::string Choice::text() const {
  std::string text;
  for (const Knob& knob : knobs()) {
    text += (text.empty() ? "" : " ") + std::string(knob.name) + "=" + shown((*this)[knob.name]);
  }
  return text;
}

const Value& Choice::operator[](std::string_view name) const {
  const auto at = std::find_if(knobs().begin(), knobs().end(),
                               [name](const Knob& knob) { return knob.name == name; });
  HONE_ASSERT(at != knobs().end());
  return at->values[places_[static_cast<std::size_t>(at - knobs().begin())]];
}

Value describe_space() {
  Value names = Value::map(), docs = Value::map();
  for (const Knob& knob : knobs()) {
    names.set(knob.name, Value(knob.values));
    docs.set(knob.name, knob.doc);
  }
  return Value::map(
      {{"size", space_size()}, {"knobs", std::move(names)}, {"doc", std::move(docs)}});
}

}  // namespace hone::autotune
