// BuildPool: builds sources, each in its own jailed process, and caches the artifacts.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/options.hpp"
#include "evaluate/recording.hpp"
#include "evaluate/zygotes.hpp"
#include "examine/code_report.hpp"
#include "examine/sanitizer.hpp"
#include "model/task.hpp"
#include "model/work.hpp"
#include "plugin/backend.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// A build to do.
struct BuildRequest {
  std::string language;  ///< "c++", "c"
  std::string name;      ///< file name in the compiler's messages
  std::string text;
  std::vector<std::string> entries;  ///< functions or kernels that the artifact must have
  std::vector<Source> support = {};  ///< further files of the task
  int threads = 1;
  bool record = false;      ///< of a module: its plan is wanted, too
  std::string report = {};  ///< report that is wanted, too (backend.h); empty: none
  std::shared_ptr<const SanitizerProgram> program = {};  ///< of the report "sanitizer"; else null
};

/// The result of a build.
struct Built {
  bool ok = false;
  BuildFailure failure = BuildFailure::kNone;  ///< kNone if ok
  std::string diagnostics;                     ///< unfiltered compiler output
  std::string artifact;                        ///< the library's bytes
  std::string toolchain;                       ///< the compiler's version, if requested
  Value report;                            ///< of the report "sanitizer", if requested; else nil
  std::shared_ptr<const CodeReport> code;  ///< of the report "code", if requested and written
  DryRunFailure dry_run = DryRunFailure::kNone;  ///< never kHindered
  std::string raised;                            ///< the exception of the dry run
  std::shared_ptr<const RecordedPlan> plan;      ///< of a module, if it could be recorded
  std::string not_recorded;                      ///< why it could not; empty if it was not tried
  std::optional<Witnessed>
      seen_in_dry_run;  ///< kernels and operators that the module started in the dry run
  bool cached = false;
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

/// The bytes that a process with the device loads: the plan of a recorded module, or the artifact.
inline const std::string& artifact_of(const Built& built, Mode mode) {
  return mode == Mode::kRecordedModule ? built.plan->bytes : built.artifact;
}
/// Whether torch's operators are called when it is replayed.
inline bool replays_operators(const Built& built, Mode mode) {
  return mode == Mode::kRecordedModule && built.plan->has_operators;
}

/// [any thread] Builder processes are started ahead, so that a build does not wait for one.
class BuildPool {
 public:
  /// `zygotes`: start the dry runs of modules; null: no dry runs.
  BuildPool(Launcher& launcher, const EvaluatorOptions& options, Zygotes* zygotes);

  /// An Error is a fault.
  Result<std::shared_ptr<const Built>> build(const BuildRequest& request);

  /// Sets the device to build for, by its facts. Its architecture is used unless the configuration sets one.
  /// failed_precondition: an earlier device has another architecture.
  Status use_device(const Value& facts) HONE_EXCLUDES(mutex_);

  /// Compiles a known program with each toolchain. Returns "c++: g++ (Debian …) 12.2.0; c: …", or the missing
  /// compiler.
  Result<std::string> self_test();

  /// failed_precondition: this machine cannot build torch extensions of this kind.
  Status check_extensions(ExtensionKind kind) HONE_EXCLUDES(mutex_);

 private:
  struct Standby {
    std::unique_ptr<Process> process;
    UniqueFd socket;
  };
  /// `cpus`: the cores that it may use; empty: all.
  Result<Standby> start_builder(std::vector<int> cpus = {});
  Result<Standby> take_builder();
  void refill();
  Result<Built> ask_builder(const Value& request);
  Value request_value(const BuildRequest& request, const Toolchain& toolchain, bool version) const
      HONE_EXCLUDES(mutex_);
  double clock_seconds() const;
  std::string cache_key(const BuildRequest& request) const HONE_EXCLUDES(mutex_);
  std::shared_ptr<const Built> find_cached(const std::string& key) HONE_EXCLUDES(mutex_);
  void remember(const std::string& key, std::shared_ptr<const Built> built) HONE_EXCLUDES(mutex_);

  std::string device() const HONE_EXCLUDES(mutex_);
  Status dry_run_if_module(const BuildRequest& request, Built& built) HONE_EXCLUDES(mutex_);
  Status record_if_wanted(const BuildRequest& request, Built& built) HONE_EXCLUDES(mutex_);

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  Zygotes* const zygotes_;
  std::unique_ptr<Extensions> extensions_;  ///< set if interpreters are configured
  mutable Mutex mutex_;
  std::string architecture_ HONE_GUARDED_BY(mutex_);
  std::string device_ HONE_GUARDED_BY(mutex_);  ///< for dry runs
  std::list<Standby> standby_ HONE_GUARDED_BY(mutex_);
  struct Entry {
    std::shared_ptr<const Built> built;
    std::size_t bytes;
    std::list<std::string>::iterator age;
  };
  std::map<std::string, Entry> cache_ HONE_GUARDED_BY(mutex_);
  std::list<std::string> ages_ HONE_GUARDED_BY(mutex_);  // front: the newest
  std::size_t cache_bytes_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
