// Strict reading of maps.
#include "model/fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/nearest.hpp"

namespace hone {
namespace {

std::string show(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", number);
  return text;
}

std::string range(double low, double high) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (high < kMost) return show(low) + " to " + show(high);
  return low > -kMost ? "a finite number of at least " + show(low) : "a finite number";
}

const Value& empty_map() {
  static const Value kEmpty = Value::map();
  return kEmpty;
}

}  // namespace

Fields::Fields(const Value& map, std::string context, Locate locate, std::string pointer)
    : map_(map.is_map() ? map : empty_map()),
      context_(std::move(context)),
      locate_(std::move(locate)),
      pointer_(std::move(pointer)) {
  if (!map.is_map()) mistake("", "expected a map, found " + std::string(map.type_name()));
}

std::string Fields::place(std::string_view key) const {
  std::string where = context_;
  if (locate_) {
    const std::string pointer = pointer_ + (key.empty() ? "" : "/" + std::string(key));
    if (std::string found = locate_(pointer); !found.empty()) where = found;
  }
  return where;
}

void Fields::mistake(std::string_view key, std::string message, Code code) {
  if (error_) return;
  std::string text = place(key);
  if (!text.empty()) text += ": ";
  if (!key.empty()) text += std::string(key) + ": ";
  error_ = Error{code, text + message};
}

void Fields::adopt(const Status& status) {
  if (!error_ && !status) error_ = status.error();
}

const Value* Fields::take(std::string_view key, bool required) {
  asked_.emplace_back(key);
  const Value* found = map_.find(key);
  if (found != nullptr && found->is_nil() && !required) return nullptr;
  if (found == nullptr && required && !error_) {
    mistake(key, "missing");
    missing_ = true;
  }
  return found;
}

void Fields::wrong_type(std::string_view key, std::string_view expected, const Value& found) {
  mistake(key, "expected " + std::string(expected) + ", found " + std::string(found.type_name()));
}

std::int64_t Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Value* found = take(key, true);
  if (found == nullptr) return low;
  if (!found->is_int()) {
    wrong_type(key, "an integer", *found);
    return low;
  }
  const std::int64_t number = found->as_int();
  if (number < low || number > high) {
    mistake(key, "found " + std::to_string(number) + ", expected " + std::to_string(low) + " to " +
                     std::to_string(high));
    return low;
  }
  return number;
}

std::int64_t Fields::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                                std::int64_t high) {
  if (take(key, false) == nullptr) return fallback;
  return integer(key, low, high);
}

double Fields::number(std::string_view key, double low, double high) {
  const Value* found = take(key, true);
  if (found == nullptr) return low;
  if (!found->is_number()) {
    wrong_type(key, "a number", *found);
    return low;
  }
  const double number = found->as_double();
  if (!(number >= low && number <= high)) {
    mistake(key, "found " + show(number) + ", expected " + range(low, high));
    return low;
  }
  return number;
}

double Fields::number_or(std::string_view key, double fallback, double low, double high) {
  if (take(key, false) == nullptr) return fallback;
  return number(key, low, high);
}

bool Fields::flag(std::string_view key) {
  const Value* found = take(key, true);
  if (found == nullptr) return false;
  if (!found->is_bool()) {
    wrong_type(key, "true or false", *found);
    return false;
  }
  return found->as_bool();
}

bool Fields::flag_or(std::string_view key, bool fallback) {
  if (take(key, false) == nullptr) return fallback;
  return flag(key);
}

std::string Fields::text(std::string_view key, std::size_t bytes_max) {
  const Value* found = take(key, true);
  if (found == nullptr) return {};
  if (!found->is_string()) {
    wrong_type(key, "text", *found);
    return {};
  }
  if (found->as_string().size() > bytes_max) {
    mistake(key, std::to_string(found->as_string().size()) + " bytes, at most " +
                     std::to_string(bytes_max) + " allowed");
    return {};
  }
  return found->as_string();
}

std::string Fields::text_or(std::string_view key, std::string fallback, std::size_t bytes_max) {
  if (take(key, false) == nullptr) return fallback;
  return text(key, bytes_max);
}

std::string Fields::choice(std::string_view key, const std::vector<std::string>& allowed) {
  std::string found = text(key);
  if (!error_ && std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
    mistake(key, unknown_name("value", found, allowed));
  }
  return found;
}

std::string Fields::choice_or(std::string_view key, std::string fallback,
                              const std::vector<std::string>& allowed) {
  if (take(key, false) == nullptr) return fallback;
  return choice(key, allowed);
}

std::vector<std::string> Fields::texts_or(std::string_view key, std::vector<std::string> fallback) {
  const Value* found = take(key, false);
  if (found == nullptr) return fallback;
  if (!found->is_array()) {
    wrong_type(key, "a list of texts", *found);
    return {};
  }
  std::vector<std::string> texts;
  for (const Value& item : found->as_array()) {
    if (!item.is_string()) {
      wrong_type(key, "a list of texts", item);
      return {};
    }
    texts.push_back(item.as_string());
  }
  return texts;
}

const Value* Fields::value(std::string_view key) { return take(key, true); }
const Value* Fields::value_or_null(std::string_view key) { return take(key, false); }

const Value* Fields::map_or_null(std::string_view key) {
  const Value* found = take(key, false);
  if (found != nullptr && !found->is_map()) {
    wrong_type(key, "a map", *found);
    return nullptr;
  }
  return found;
}

const Value* Fields::array_or_null(std::string_view key) {
  const Value* found = take(key, false);
  if (found != nullptr && !found->is_array()) {
    wrong_type(key, "a list", *found);
    return nullptr;
  }
  return found;
}

const Value* Fields::map(std::string_view key) {
  const Value* found = take(key, true);
  if (found == nullptr || found->is_map()) return found;
  wrong_type(key, "a map", *found);  // also for nil: a required member must be a map
  return nullptr;
}

const Value* Fields::array(std::string_view key) {
  const Value* found = take(key, true);
  if (found == nullptr || found->is_array()) return found;
  wrong_type(key, "a list", *found);
  return nullptr;
}

Fields Fields::inside(std::string_view key, const Value& member) const {
  return {member, context_.empty() ? std::string(key) : context_ + "/" + std::string(key), locate_,
          pointer_ + "/" + std::string(key)};
}

Status Fields::finish() {
  for (const auto& [key, ignored] : map_.as_map()) {
    if (error_ && !missing_) break;
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
      std::vector<std::string> valid = asked_;
      std::sort(valid.begin(), valid.end());
      valid.erase(std::unique(valid.begin(), valid.end()), valid.end());
      std::string where = place(key);
      error_ =
          invalid_argument((where.empty() ? "" : where + ": ") + unknown_name("key", key, valid));
      missing_ = false;
    }
  }
  return finish_loosely();
}

Status Fields::finish_loosely() const { return error_ ? Status(*error_) : Status(); }

}  // namespace hone
