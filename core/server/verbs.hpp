// The verbs of hone/1, which endpoint serves them, and the raw frames of a step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

enum class Verb {
  kHello,
  kDescribe,
  kReset,
  kStep,
  kCancel,
  kPing,
  kClose,
  kResume,
  kBranch,
  kMetrics,
  kHealth,
  kUnknown
};
inline constexpr std::size_t kVerbCount = static_cast<std::size_t>(Verb::kUnknown) + 1;

/// The endpoint of a message.
enum class Door { kMain, kControl };

std::string_view verb_name(Verb verb);
/// Errors: unimplemented for an unknown verb, with the nearest name; failed_precondition for a verb of the other endpoint. Without a control endpoint, the main one serves all verbs.
Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint);
/// Whether the verb changes nothing.
bool only_looks(Verb verb);
/// The names in the reply to hello.
std::vector<std::string> verb_names();

/// Replaces references to raw frames in a step's action (code_buffer, response_buffer) by their bytes (code, response), so that the hash of an action does not depend on its encoding. An unused frame is invalid_argument.
Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers);

}  // namespace hone
