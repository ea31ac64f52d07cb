// Work: what did a module's work, as far as its own processes can tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Of one call that was watched. Evidence and no proof: the watching is done in the submission's process, and code that
/// neither torch nor Triton starts is not seen.
struct Witnessed {
  std::map<std::string, std::int64_t> kernels;    ///< Triton's, by name: how often each was started
  std::map<std::string, std::int64_t> operators;  ///< torch's: "aten.addmm", how often each ran

  /// Torch's operators ran, and no kernel was started.
  bool torch_alone() const { return kernels.empty() && !operators.empty(); }
  /// Whether it is by the same names. How often is no question: an autotuner starts each configuration once.
  bool same_names(const Witnessed& other) const;
};

struct Work : Witnessed {
  /// The device's microseconds at either, without what Python takes to start it; nullopt: no device, or more pieces than
  /// are timed.
  std::optional<double> kernels_us{}, operators_us{};

  /// Second source: kernels and operators that the submission's dry run started, in another process on empty tensors; nullopt: there was no dry run, or it did not complete as it would on a device.
  std::optional<Witnessed> rehearsed{};

  /// Whether both agree; nullopt if only one exists.
  std::optional<bool> agrees() const;
};

/// {"kernels": {name: int}, "operators": {name: int}, "kernels_us": float|nil, "operators_us": float|nil,
/// "rehearsed": {"kernels", "operators"}|nil, "agrees": bool|nil}.
Value work_to_value(const Work& work);
Result<Work> work_from_value(const Value& value);
/// From JSON that a submission's process has written: names of other than printable characters, counts below 1, times
/// below 0 and what is too long are mistakes. It cannot set the results of the dry run.
Result<Work> work_from_json(std::string_view words);
/// "aten.relu, aten.addmm and 3 others".
std::string operator_words(const Witnessed& witnessed);

}  // namespace hone
