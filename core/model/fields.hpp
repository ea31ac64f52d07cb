// Fields: reads a map strictly, member by member, with errors that name the place, what was found
// and what is allowed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// Reads known members of a map; finish() then returns the first mistake. An unknown key is reported before a missing member, because it may be a misspelling. A getter that fails returns its default, so that a reader is a plain list of
/// members.
///
///   Fields f(value, "hello");                       // "hello" stands at the start of messages
///   const std::int64_t turn = f.integer("turn", 0, 1000);              // required, in range
///   const std::string kind = f.text_or("kind", "sum");                 // optional
///   HONE_TRY(f.finish());
class Fields {
 public:
  /// Converts a member's path ("/limits/threads") to its place in the file ("task.yaml:12"). Empty: messages
  /// begin with the context.
  using Locate = std::function<std::string(std::string_view pointer)>;

  Fields(const Value& map, std::string context, Locate locate = {}, std::string pointer = {});

  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                          std::int64_t high);
  double number(std::string_view key, double low, double high);
  double number_or(std::string_view key, double fallback, double low, double high);
  bool flag(std::string_view key);
  bool flag_or(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::size_t bytes_max = 1u << 20);
  std::string text_or(std::string_view key, std::string fallback, std::size_t bytes_max = 1u << 20);
  /// One of `allowed`. An error suggests the nearest allowed name.
  std::string choice(std::string_view key, const std::vector<std::string>& allowed);
  std::string choice_or(std::string_view key, std::string fallback,
                        const std::vector<std::string>& allowed);
  std::vector<std::string> texts_or(std::string_view key, std::vector<std::string> fallback);

  /// Any value. If the member is absent, value_or() returns nullptr and value() reports an error.
  const Value* value(std::string_view key);
  const Value* value_or_null(std::string_view key);
  const Value* map_or_null(std::string_view key);
  const Value* array_or_null(std::string_view key);
  const Value* map(std::string_view key);
  const Value* array(std::string_view key);

  bool has(std::string_view key) const { return map_.find(key) != nullptr; }
  /// Fields of a member that is a map. finish() of these fields reports its mistakes.
  Fields inside(std::string_view key, const Value& member) const;
  /// Records a mistake about a member: "place: message".
  void mistake(std::string_view key, std::string message, Code code = Code::kInvalidArgument);
  /// Adopts the mistake of a nested reader.
  void adopt(const Status& status);
  std::string place(std::string_view key) const;

  Status finish();
  /// As finish(), but unknown keys are allowed (messages of newer versions).
  Status finish_loosely() const;

 private:
  const Value* take(std::string_view key, bool required);
  void wrong_type(std::string_view key, std::string_view expected, const Value& found);

  const Value& map_;
  std::string context_;
  Locate locate_;
  std::string pointer_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
  bool missing_ = false;  ///< error_ is about a missing member
};

}  // namespace hone
