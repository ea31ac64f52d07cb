// Work: the kernels and operators that a module ran, as reported by its own processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Kernels and operators of one traced call. This is evidence, not proof: the trace is made in the
/// submission's process, and code that neither torch nor Triton starts is not seen.
struct Witnessed {
  std::map<std::string, std::int64_t> kernels;  ///< Triton's kernels by name: number of launches
  std::map<std::string, std::int64_t>
      operators;  ///< torch's operators by name, "aten.addmm": number of calls

  /// Counts one more launch or call. A name is cut to 64 bytes; names after the 63rd are counted as "others". `name`: printable
  /// ASCII without spaces.
  void add_kernel(std::string_view name);
  void add_operator(std::string_view name);

  /// Torch's operators ran, and no kernel was started.
  bool only_torch() const { return kernels.empty() && !operators.empty(); }
  /// Whether both have the same names. Counts may differ, because an autotuner starts each configuration
  /// once.
  bool same_names(const Witnessed& other) const;
};

struct Work : Witnessed {
  /// Device time (µs) of the kernels and of the operators, without the time in which Python starts them.
  /// nullopt: no device, or too many of them to time each.
  std::optional<double> kernels_us{}, operators_us{};

  /// Second source: kernels and operators that the submission's dry run started, in another process on empty tensors; nullopt: there was no dry run, or it did not complete as it would on a device.
  std::optional<Witnessed> dry_run{};

  /// Whether the trace and the dry run have the same names; nullopt if only one exists.
  std::optional<bool> agrees() const;
};

/// {"kernels": {name: int}, "operators": {name: int}, "kernels_us": float|nil, "operators_us": float|nil,
/// "rehearsed": {"kernels", "operators"}|nil, "agrees": bool|nil}.
Value work_to_value(const Work& work);
Result<Work> work_from_value(const Value& value);
/// Reads JSON that a submission's process has written. Unprintable names, counts below 1, negative times and
/// too long texts are errors. It cannot set the results of the dry run.
Result<Work> work_from_json(std::string_view words);
/// "aten.relu, aten.addmm and 3 others".
std::string operator_words(const Witnessed& witnessed);

}  // namespace hone
