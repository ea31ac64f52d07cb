// Errors of references as maps.
#include "judge_protocol/reference_error.hpp"

#include "model/fields.hpp"

namespace hone {
namespace {

constexpr std::int64_t kStructureMax = 3;  // the highest level (FULL) in module_structure.py

Value error_to_value(const OutputError& e) {
  return Value::array({e.element, e.norm, e.wide_element, e.wide_norm, e.share});
}

}  // namespace

Result<OutputError> output_error_from_value(const Value& value) {
  constexpr std::size_t kNumbers = 5;
  if (!value.is_array() || value.as_array().size() != kNumbers)
    return invalid_argument("reference error: expected five numbers, found " + to_json(value));
  double numbers[kNumbers];
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const Value& number = value.as_array()[i];
    if (!number.is_number() || !(number.as_double() >= 0))
      return invalid_argument("reference error: expected a number from 0 on, found " +
                              to_json(number));
    numbers[i] = number.as_double();
  }
  return OutputError{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
}

Result<ReferenceError> reference_error_from_json(std::string_view text) {
  HONE_ASSIGN(const Value value, from_json(text));
  return reference_error_from_value(value);
}

Value reference_error_to_value(const ReferenceError& error) {
  Value outputs = Value::array();
  for (const ReferenceError::Output& output : error.outputs) {
    Value one = Value::map({{"own", error_to_value(output.own)}});
    if (output.allowed) one.set("allowed", error_to_value(*output.allowed));
    outputs.push(std::move(one));
  }
  Value value = Value::map({{"outputs", std::move(outputs)},
                            {"in_double", error.in_double},
                            {"memory_bytes", error.memory_bytes}});
  if (error.structure) value.set("structure", *error.structure);
  return value;
}

Result<ReferenceError> reference_error_from_value(const Value& value) {
  Fields f(value, "reference error");
  ReferenceError error;
  error.in_double = f.flag("in_double");
  error.memory_bytes = static_cast<std::uint64_t>(f.integer("memory_bytes", 0, INT64_MAX));
  if (f.has("structure"))
    error.structure = static_cast<int>(f.integer("structure", 0, kStructureMax));
  if (const Value* outputs = f.array("outputs")) {
    for (const Value& output : outputs->as_array()) {
      const Value* own = output.find("own");
      const Value* allowed = output.find("allowed");
      if (own == nullptr) return invalid_argument("reference error: an output without 'own'");
      ReferenceError::Output one;
      HONE_ASSIGN(one.own, output_error_from_value(*own));
      if (allowed != nullptr) {
        HONE_ASSIGN(one.allowed, output_error_from_value(*allowed));
      }
      error.outputs.push_back(one);
    }
  }
  HONE_TRY(f.finish());
  return error;
}

}  // namespace hone
