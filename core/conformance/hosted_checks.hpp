// `hone validate` for a Python plugin: checks that it keeps the rules, through its plugin host.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "conformance/validate.hpp"
#include "model/value.hpp"
#include "plugin_host/hosted_plugin.hpp"

namespace hone {

/// Runs every check that fits the file's classes. A plugin that crashes or hangs is a result; an
/// Error is a fault of the machine. `config` is what is given to the constructors.
///
///   HONE_ASSIGN(const auto report, validate_python("my_reward.py", installed_plugin_host(), {}));
Result<ValidationReport> validate_python(const std::filesystem::path& path,
                                         PluginHostOptions options, const Value& config);

}  // namespace hone
