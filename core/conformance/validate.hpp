// `hone validate`: checks that a plugin keeps the ABI's rules, each check in its own process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "conformance/check_process.hpp"
#include "plugin/host_services.hpp"

namespace hone {

struct ValidatedCheck {
  std::string id;     ///< "reward.score"
  std::string title;  ///< "scores episodes of every outcome"
  CheckResult result;
};

struct ValidationReport {
  std::string name;  ///< of the plugin; empty when it could not be loaded
  std::string version;
  std::vector<ValidatedCheck> checks;  ///< in the order in which they ran

  /// Whether no check failed, crashed or timed out.
  bool ok() const;
};

/// Runs every check that fits what the plugin offers. `program` is an executable that calls
/// run_validation_check for the arguments `validate --check ID PATH`: hone itself. A plugin that
/// crashes or hangs is a result; an Error is a fault of the machine or a path that is no file.
///
///   HONE_ASSIGN(const auto report, validate_plugin("kevin.so", "/proc/self/exe"));
Result<ValidationReport> validate_plugin(const std::filesystem::path& path,
                                         const std::filesystem::path& program,
                                         const CheckProcessOptions& options = {});

/// The process' side: runs one check in this process and reports it. The exit status: 0 when the
/// check was run (whatever came of it), 2 for an unknown id. `host` is what the plugin is given,
/// the YAML parser above all: without one, a dataset that reads YAML cannot be opened.
int run_validation_check(const std::filesystem::path& path, std::string_view check_id,
                         HostOptions host = {});

}  // namespace hone
