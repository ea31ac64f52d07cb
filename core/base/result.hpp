// Expected failures as values: Error, Status and Result<T>, with the codes of the plugin ABI and
// the wire.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hone/abi.h"

namespace hone {

enum class Code : int {
  kOk = HONE_OK,
  kInvalidArgument = HONE_INVALID_ARGUMENT,
  kNotFound = HONE_NOT_FOUND,
  kFailedPrecondition = HONE_FAILED_PRECONDITION,
  kResourceExhausted = HONE_RESOURCE_EXHAUSTED,
  kDeadlineExceeded = HONE_DEADLINE_EXCEEDED,
  kCancelled = HONE_CANCELLED,
  kUnavailable = HONE_UNAVAILABLE,
  kUnimplemented = HONE_UNIMPLEMENTED,
  kInternal = HONE_INTERNAL,
};

/// The name on the wire: "invalid_argument".
std::string_view code_name(Code code);

/// Whether the same request may succeed later with no change by the caller.
bool is_retryable(Code code);

/// A cause that a program may decide on, because messages are only for people (names: error_cause.hpp).
enum class ErrorCause {
  kNone,
  kPluginEnded,      ///< a call ended the process of its plugin
  kTaskEndedPlugin,  ///< as kPluginEnded, and it was the call that reads the task
  kUnfitTask,        ///< the dataset cannot make a task of the named record
  kAddressInUse,     ///< another process listens on the endpoint
  kDamagedJournal,   ///< the journal's file or its write-ahead log is damaged
};

struct [[nodiscard]] Error {
  Code code = Code::kInternal;
  std::string message;  ///< lower case, no final period, outer to inner, found and expected
  ErrorCause cause = ErrorCause::kNone;

  /// The same error with a context: "context: message".
  Error in(std::string_view context) const {
    return {code, std::string(context) + ": " + message, cause};
  }
};

inline Error invalid_argument(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}
inline Error not_found(std::string message) { return {Code::kNotFound, std::move(message)}; }
inline Error failed_precondition(std::string message) {
  return {Code::kFailedPrecondition, std::move(message)};
}
inline Error resource_exhausted(std::string message) {
  return {Code::kResourceExhausted, std::move(message)};
}
inline Error unavailable(std::string message) { return {Code::kUnavailable, std::move(message)}; }
inline Error internal_error(std::string message) { return {Code::kInternal, std::move(message)}; }

/// An `unavailable` error that ends in the text of errno: "open /x: permission denied".
Error system_error(std::string_view what, int error_number);

/// Either a value or an Error.
///
///   Result<int> parse(std::string_view text);
///   HONE_ASSIGN(int n, parse("12"));          // returns the error to the caller
///   if (auto r = parse("x"); !r) log(r.error().message);
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// A Result without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit on purpose

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_{Code::kOk, {}};
  bool ok_ = true;
};
using Status = Result<void>;

}  // namespace hone

#define HONE_CONCAT_(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_(a, b)

/// Evaluates an expression that yields a Status or Result; returns its error from this function.
#define HONE_TRY(expression)                                                 \
  do {                                                                       \
    if (auto hone_try_ = (expression); !hone_try_) return hone_try_.error(); \
  } while (false)

/// HONE_ASSIGN(int n, parse(text)): declares or assigns from a Result; returns its error from this
/// function.
#define HONE_ASSIGN(target, expression) \
  HONE_ASSIGN_(HONE_CONCAT(hone_result_, __LINE__), target, expression)
#define HONE_ASSIGN_(temporary, target, expression) \
  auto temporary = (expression);                    \
  if (!temporary) return temporary.error();         \
  target = std::move(temporary).value()
