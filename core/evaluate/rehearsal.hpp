// A module's first run, in a jail without a device: what it compiles travels with it, and what cannot be imported or
// compiled costs no device.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/warm_interpreters.hpp"
#include "model/work.hpp"

namespace hone {

/// What a submission's process says of itself, which is believed of it alone.
struct Rehearsed {
  /// "load", "run", "build"; "hindered" where an extension was not built for what may be the machine's doing; empty
  /// where nothing is certain to fail.
  std::string raised_in;
  std::string words;  ///< what it raised there; of "build" a compiler's lines
  std::string kind;   ///< of the extension: "host", or "device" with kernels
  /// What it started, where it came to its end as it would beside a device.
  std::optional<Witnessed> started;
  std::string compiled;  ///< for its process beside a device; one line
};

/// Whether a module may have torch compile extensions, which takes longer than all else in a rehearsal.
bool builds_extensions(const std::string& source);
/// Whether a module may call code that neither torch nor Triton made.
bool may_bring_code(const std::string& source);

/// [any thread] `device`: what there will be, as rehearse_module.py reads it. An Error says nothing about the artifact;
/// resource_exhausted: the process was starved.
Result<Rehearsed> rehearse(WarmInterpreters& interpreters, const EvaluatorOptions& options,
                           const std::string& device, const std::string& artifact);

}  // namespace hone
