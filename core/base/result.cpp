// The names of the error codes, and whether a retry may help.
#include "base/result.hpp"

#include <cctype>
#include <system_error>

namespace hone {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kNotFound:
      return "not_found";
    case Code::kFailedPrecondition:
      return "failed_precondition";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kDeadlineExceeded:
      return "deadline_exceeded";
    case Code::kCancelled:
      return "cancelled";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnimplemented:
      return "unimplemented";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

bool is_retryable(Code code) {
  return code == Code::kResourceExhausted || code == Code::kUnavailable ||
         code == Code::kDeadlineExceeded;
}

Error system_error(std::string_view what, int error_number) {
  std::string reason = std::generic_category().message(error_number);
  if (!reason.empty())
    reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return unavailable(std::string(what) + ": " + reason);
}

}  // namespace hone
