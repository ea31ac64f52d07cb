// Strict reading of maps: each member's type and range, unknown keys with the nearest valid one,
// places in a file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/plugin/failure.hpp"
#include "hone/plugin/value.hpp"

namespace hone::plugin {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Letters to insert, leave out or change.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j - 1] ? 0u : 1u);
      diagonal = row[j];
      row[j] = std::min({diagonal + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

/// The candidate within a third of the name's length in edits, or "" if none is that near.
inline std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > 128) return {};
  std::string best;
  std::size_t best_edits = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (const std::size_t edits = edits_between(name, candidate); edits < best_edits) {
      best_edits = edits;
      best = candidate;
    }
  }
  return best;
}

/// Whether `found` is likelier a misspelling of `meant` than a name of its own: one edit, two
/// letters exchanged, or an edit in four letters. Names of one or two letters never are.
inline bool is_misspelling(std::string_view found, std::string_view meant) {
  if (meant.size() < 3 || found.size() > 128) return false;
  std::string a(found), b(meant);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b || edits_between(found, meant) <= std::max<std::size_t>(1, meant.size() / 4);
}

/// "unknown key 'trun'; did you mean 'turn'?" or, when nothing is near, "…; valid: a, b, c".
inline std::string unknown_name(std::string_view kind, std::string_view name,
                                const std::vector<std::string>& candidates) {
  std::string text = "unknown " + std::string(kind) + " '" + std::string(name.substr(0, 128)) + "'";
  if (const std::string near = nearest(name, candidates); !near.empty()) {
    return text + "; did you mean '" + near + "'?";
  }
  text += "; valid:";
  if (candidates.empty()) return text + " none";
  for (std::size_t i = 0; i < candidates.size(); ++i) text += (i ? ", " : " ") + candidates[i];
  return text;
}

/// The shortest usual form: "0.4", "3", "inf".
inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

inline std::string range_text(double low, double high) {
  const bool below = std::isfinite(low), above = std::isfinite(high);
  if (below && above) return number_text(low) + " to " + number_text(high);
  if (below) return "at least " + number_text(low);
  if (above) return "at most " + number_text(high);
  return "a finite number";
}

/// A parsed file with the lines of its members, as Host::parse_yaml gives it.
struct Document {
  std::string name;  ///< what stands in messages: "task.yaml"
  Value value;
  std::map<std::string, std::int64_t, std::less<>> lines;  ///< JSON pointer → line, from 1

  /// "task.yaml:12": the member's line, or that of the nearest one above it.
  std::string place(std::string_view pointer) const {
    for (;;) {
      if (const auto found = lines.find(pointer); found != lines.end()) {
        return name + ":" + std::to_string(found->second);
      }
      if (pointer.empty()) return name;
      const std::size_t slash = pointer.rfind('/');
      pointer = pointer.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
  }
};

/// Reads the members of a map; the first mistake is a Failure "place: key: expected …, found …".
/// finish() refuses keys that were not read. Borrows the map and the document.
///
///   Reader r(value, "request");
///   const std::string entry = r.text("entry");                      // required
///   const std::int64_t threads = r.integer_or("threads", 1, 1, 64); // optional, in range
///   r.finish();
class Reader {
 public:
  Reader(const Value& map, std::string context, const Document* document = nullptr,
         std::string pointer = {})
      : map_(map), context_(std::move(context)), document_(document), pointer_(std::move(pointer)) {
    if (!map.is_map()) {
      invalid_argument(place({}) + ": expected a map, found " + std::string(map.type_name()));
    }
  }
  explicit Reader(const Document& document) : Reader(document.value, document.name, &document) {}

  bool has(std::string_view key) const { return map_.find(key) != nullptr; }

  /// Any member; a Failure when it is missing.
  const Value& value(std::string_view key) {
    if (const Value* found = value_or_null(key)) return *found;
    // A misspelt key is not there under its name: that is what is said.
    for (const auto& [other, ignored] : map_.as_map()) {
      const bool asked = std::find(asked_.begin(), asked_.end(), other) != asked_.end();
      if (asked || !is_misspelling(other, key)) continue;
      invalid_argument(place(other) + ": " + unknown_name("key", other, {std::string(key)}));
    }
    mistake(key, "missing");
  }
  /// Any member; nullptr when it is missing or nil.
  const Value* value_or_null(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    const Value* found = map_.find(key);
    return found == nullptr || found->is_nil() ? nullptr : found;
  }

  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) {
    const Value& found = value(key);
    if (!found.is_int()) wrong_type(key, "an integer", found);
    if (found.as_int() < low || found.as_int() > high) {
      mistake(key, "expected " + std::to_string(low) + " to " + std::to_string(high) + ", found " +
                       std::to_string(found.as_int()));
    }
    return found.as_int();
  }
  std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                          std::int64_t high) {
    return value_or_null(key) ? integer(key, low, high) : fallback;
  }
  /// Integers are numbers too; NaN and infinities are not.
  double number(std::string_view key, double low = -kUnbounded, double high = kUnbounded) {
    const Value& found = value(key);
    if (!found.is_number()) wrong_type(key, "a number", found);
    const double v = found.as_double();
    if (!std::isfinite(v) || v < low || v > high) {
      mistake(key, "expected " + range_text(low, high) + ", found " + number_text(v));
    }
    return v;
  }
  double number_or(std::string_view key, double fallback, double low = -kUnbounded,
                   double high = kUnbounded) {
    return value_or_null(key) ? number(key, low, high) : fallback;
  }
  bool flag(std::string_view key) {
    const Value& found = value(key);
    if (!found.is_bool()) wrong_type(key, "true or false", found);
    return found.as_bool();
  }
  bool flag_or(std::string_view key, bool fallback) {
    return value_or_null(key) ? flag(key) : fallback;
  }
  std::string text(std::string_view key) {
    const Value& found = value(key);
    if (!found.is_string()) wrong_type(key, "a string", found);
    return found.as_string();
  }
  std::string text_or(std::string_view key, std::string fallback) {
    return value_or_null(key) ? text(key) : std::move(fallback);
  }
  std::string choice(std::string_view key, const std::vector<std::string>& allowed) {
    std::string found = text(key);
    if (std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
      mistake(key, unknown_name("value", found, allowed));
    }
    return found;
  }
  std::string choice_or(std::string_view key, std::string fallback,
                        const std::vector<std::string>& allowed) {
    return value_or_null(key) ? choice(key, allowed) : std::move(fallback);
  }
  std::vector<std::string> texts_or(std::string_view key, std::vector<std::string> fallback) {
    if (value_or_null(key) == nullptr) return fallback;
    std::vector<std::string> result;
    for (const Value& item : array(key)) {
      if (!item.is_string()) wrong_type(key, "a list of strings", item);
      result.push_back(item.as_string());
    }
    return result;
  }
  const Value::Array& array(std::string_view key) {
    const Value& found = value(key);
    if (!found.is_array()) wrong_type(key, "a list", found);
    return found.as_array();
  }
  const Value::Map& map(std::string_view key) {
    const Value& found = value(key);
    if (!found.is_map()) wrong_type(key, "a map", found);
    return found.as_map();
  }
  /// A reader of a member that is a map.
  Reader inside(std::string_view key) { return item(key, value(key)); }
  /// A reader of `map`, which stands below this one at `path` ("tensors/0").
  Reader item(std::string_view path, const Value& map) const {
    return Reader(map, context_ + "/" + std::string(path), document_,
                  pointer_ + "/" + std::string(path));
  }

  /// "task.yaml:12" in a document, else the context.
  std::string place(std::string_view key) const {
    if (document_ == nullptr) return context_;
    return document_->place(key.empty() ? pointer_ : pointer_ + "/" + std::string(key));
  }
  [[noreturn]] void mistake(std::string_view key, const std::string& message) const {
    invalid_argument(place(key) + ": " + std::string(key) + ": " + message);
  }
  void finish() const {
    for (const auto& [key, ignored] : map_.as_map()) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
        invalid_argument(place(key) + ": " + unknown_name("key", key, asked_));
      }
    }
  }

 private:
  [[noreturn]] void wrong_type(std::string_view key, std::string_view expected,
                               const Value& found) const {
    mistake(key, "expected " + std::string(expected) + ", found " + std::string(found.type_name()));
  }

  const Value& map_;
  std::string context_;
  const Document* document_;
  std::string pointer_;
  std::vector<std::string> asked_;
};

}  // namespace hone::plugin
