// BuildPool: builds sources, each in its own jailed process, and caches the artifacts.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/await_answer.hpp"
#include "evaluate/build_cache.hpp"
#include "evaluate/built.hpp"
#include "evaluate/extensions.hpp"
#include "evaluate/options.hpp"
#include "evaluate/pieces.hpp"
#include "evaluate/zygotes.hpp"
#include "examine/sanitizer.hpp"
#include "model/task.hpp"
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

  /// Hits, misses and contents of the cache (BuildCache::stats()).
  Value cache_stats() const { return cache_.stats(); }

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
  AnswerLimits build_limits() const;
  std::string cache_key(const BuildRequest& request) const HONE_EXCLUDES(mutex_);
  std::string device() const HONE_EXCLUDES(mutex_);
  Status dry_run_if_module(const BuildRequest& request, Built& built) HONE_EXCLUDES(mutex_);
  Status record_if_wanted(const BuildRequest& request, Built& built) HONE_EXCLUDES(mutex_);

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  Zygotes* const zygotes_;
  std::unique_ptr<Extensions> extensions_;  ///< set if interpreters are configured
  BuildCache cache_;
  SharedPieces images_;  ///< of all recorded plans
  mutable Mutex mutex_;
  std::string architecture_ HONE_GUARDED_BY(mutex_);
  std::string device_ HONE_GUARDED_BY(mutex_);  ///< for dry runs
  std::list<Standby> standby_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
