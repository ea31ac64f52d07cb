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

/// Where a message came in.
enum class Door { kMain, kControl };

std::string_view verb_name(Verb verb);
/// unimplemented, naming the nearest, for a verb that there is not; failed_precondition, naming the
/// endpoint, for one that this door does not serve. With no control endpoint the main one serves
/// everything.
Result<Verb> parse_verb(std::string_view name, Door door, const std::string& main_endpoint,
                        const std::string& control_endpoint);
/// Whether it looks and changes nothing.
bool only_looks(Verb verb);
/// What hello lists.
std::vector<std::string> verb_names();

/// Puts the raw frames that a step's action names (code_buffer, response_buffer) in their place
/// (code, response), so that the same submission is the same action however it came. A frame nobody
/// names is invalid_argument.
Status place_buffers(Verb verb, Value& body, std::vector<std::string>&& buffers);

}  // namespace hone
