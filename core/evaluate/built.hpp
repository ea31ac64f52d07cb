// Built: the results of a build, and of the dry run and the recording after it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/dry_run.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/recording.hpp"
#include "examine/code_report.hpp"
#include "model/value.hpp"
#include "model/work.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// The result of a build.
struct Built {
  bool ok = false;
  BuildFailure failure = BuildFailure::kNone;  ///< kNone if ok
  /// Decided by the host. If the build failed: it reached its time limit because other processes had the cores, or
  /// because memory was short. With the report "sanitizer": less than a third of the time was the own time of the
  /// compiler and its program.
  bool starved = false;
  std::string diagnostics;                 ///< unfiltered compiler output
  std::string artifact;                    ///< the library's bytes
  std::string toolchain;                   ///< the compiler's version, if requested
  Value report;                            ///< of the report "sanitizer", if requested; else nil
  std::shared_ptr<const CodeReport> code;  ///< of the report "code", if requested and written
  DryRunFailure dry_run = DryRunFailure::kNone;  ///< never kHindered
  std::string raised;                            ///< the exception of the dry run
  std::shared_ptr<const RecordedPlan> plan;      ///< of a module, if it could be recorded
  std::string not_recorded;                      ///< why it could not; empty if it was not tried
  std::optional<Witnessed>
      seen_in_dry_run;  ///< kernels and operators that the module started in the dry run
  /// The dry run or the recording did not complete, perhaps because of the machine. Another build may complete it.
  bool is_incomplete = false;
  bool over_memory =
      false;  ///< "out_of_memory" or "killed" because of the build's own memory limit
  /// It failed without a mistake in the source: the machine may have killed a part of the compiler, or lacked
  /// memory for it.
  bool doubtful = false;
};

/// A text of the report; empty if there is none.
std::string report_text(const Built& built, const char* name);

/// The bytes that a process with the device loads, in pieces: the plan of a recorded module, or the artifact. Valid while
/// `built` exists.
inline std::vector<std::string_view> artifact_of(const Built& built, Mode mode) {
  if (mode == Mode::kRecordedModule) return built.plan->bytes.views();
  return {built.artifact};
}
/// Whether torch's operators are called when it is replayed.
inline bool replays_operators(const Built& built, Mode mode) {
  return mode == Mode::kRecordedModule && built.plan->has_operators;
}

}  // namespace hone
