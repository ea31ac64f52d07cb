// Dry run: a module's first run, in a jail without a device. Its compiled kernels are reused on the device. A
// module that cannot be imported or compiled never gets a device.
#pragma once

#include <optional>
#include <string>

#include "base/enum_names.hpp"
#include "base/result.hpp"
#include "channel/control.hpp"
#include "evaluate/options.hpp"
#include "evaluate/zygotes.hpp"
#include "model/work.hpp"

namespace hone {

/// The part of a module that is certain to fail. `kNone`: no certain failure. `kHindered`: an extension was not built, and the
/// machine may be the reason. `kLink`: the linker refused an extension, kBuild: a compiler.
enum class DryRunFailure { kNone, kLoad, kRun, kBuild, kLink, kHindered };
template <>
struct EnumNames<DryRunFailure> {
  static constexpr std::string_view kKind = "dry run: failure";
  // As dry_run_module.py writes them.
  static constexpr std::string_view kNames[] = {"", "load", "run", "build", "link", "hindered"};
  static_assert(are_complete(kNames, DryRunFailure::kHindered));
};
bool is_of_extension(DryRunFailure failure);  ///< kBuild, kLink or kHindered

/// The report of a dry run. It is untrusted: it affects the verdict of this submission alone.
struct DryRun {
  DryRunFailure failure = DryRunFailure::kNone;
  std::string words;  ///< the exception, or the compiler's output for an extension
  ExtensionKind kind = ExtensionKind::kHost;
  /// The kernels and operators that it started, if the run was complete.
  std::optional<Witnessed> started;
  std::string compiled;  ///< the compiled code for the process on a device; one line
};

/// Reads the answer of a dry run, three lines.
/// 1. Nothing, "load MESSAGE", "run MESSAGE", or "build KIND MESSAGE", and likewise "link" and "hindered".
/// 2. The kernels and operators that it started, as JSON.
/// 3. The compiled code, for the process on a device, without a newline.
Result<DryRun> read_dry_run(std::string bytes);

/// [any thread] `device`: the device to compile for, in the form of dry_run_module.py. An Error says nothing
/// about the artifact; resource_exhausted: the process was starved.
Result<DryRun> dry_run(Zygotes& zygotes, const EvaluatorOptions& options, const std::string& device,
                       const std::string& artifact);

}  // namespace hone
