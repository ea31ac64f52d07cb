// Arguments in the form of KernelBench's scripts: level=1 problem_id=19.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// "0.5,0.8,1": thresholds of fast_p.
Result<std::vector<double>> parse_thresholds(std::string_view text);
/// The dataset (may be empty) and the level of "kernelbench/level1" or "level1".
std::optional<std::pair<std::string, std::int64_t>> parse_level(std::string_view text);
/// "kernelbench/level1" for the problem "kernelbench/level1/19".
std::optional<std::string> level_of_problem(std::string_view task);

/// Arguments NAME=VALUE. A reader asks for the arguments that it knows; finish() reports unknown ones. The
/// first mistake is kept, and a getter that fails returns its fallback.
///
///   RunArguments arguments(given, "eval");
///   const std::int64_t level = arguments.integer("level", 0);
///   HONE_TRY(arguments.finish());
class RunArguments {
 public:
  RunArguments(const std::vector<std::string>& given, std::string action);

  bool has(const std::string& name) const { return given_.contains(name); }
  std::string text(const std::string& name, std::string fallback);
  std::int64_t integer(const std::string& name, std::int64_t fallback);
  std::vector<std::int64_t> integers(const std::string& name);  ///< "[1, 5]", "(1,5)" or "1,5"
  /// Records an error if the argument is missing.
  void require(const std::string& name, std::string_view what);
  void mistake(std::string message);

  /// The given arguments that KernelBench knows and that have no effect here.
  std::vector<std::string> without_effect();
  Status finish();

 private:
  std::string action_;
  std::map<std::string, std::string> given_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

}  // namespace hone
