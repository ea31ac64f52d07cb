// Work: what did a module's work, as far as its own process can tell.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Of one call that was watched. Evidence and no proof: the watching is done in the submission's process, and code that
/// neither torch nor Triton starts is not seen.
struct Work {
  std::map<std::string, std::int64_t> kernels;    ///< Triton's, by name: how often each was started
  std::map<std::string, std::int64_t> operators;  ///< torch's: "aten.addmm", how often each ran

  /// Torch's operators ran, and no kernel was started.
  bool torch_alone() const { return kernels.empty() && !operators.empty(); }
};

/// {"kernels": {name: int}, "operators": {name: int}}.
Value work_to_value(const Work& work);
Result<Work> work_from_value(const Value& value);
/// From JSON that a submission's process has written: names of other than printable characters, counts below 1 and
/// what is too long are mistakes.
Result<Work> work_from_json(std::string_view words);
/// "aten.relu, aten.addmm and 3 others".
std::string operator_words(const Work& work);

}  // namespace hone
