// BuildPool: sources into artifacts, each in a jailed process of its own, with a cache of what was
// built.
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
#include "evaluate/options.hpp"
#include "evaluate/zygotes.hpp"
#include "model/task.hpp"
#include "model/work.hpp"
#include "plugin/backend.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// What is built.
struct BuildRequest {
  std::string language;  ///< "c++", "c"
  std::string name;      ///< file name: what the compiler's messages say
  std::string text;
  std::vector<std::string> entries;  ///< functions or kernels that must be there
  std::vector<Source> support = {};  ///< further files of the task
  int threads = 1;
};

/// What came of it.
struct Built {
  bool ok = false;
  BuildFailure failure = BuildFailure::kNone;    ///< kNone where ok
  std::string diagnostics;                       ///< raw
  std::string artifact;                          ///< the library's bytes
  std::string toolchain;                         ///< the compiler's version, if that was asked
  DryRunFailure dry_run = DryRunFailure::kNone;  ///< never kHindered
  std::string raised;                            ///< there
  std::optional<Witnessed>
      seen_in_dry_run;  ///< the kernels and operators that a module started there
  bool cached = false;
  bool lacks_dry_run = false;  ///< the machine's doing, perhaps: it may do better another time
  bool over_memory =
      false;  ///< of "out_of_memory" and "killed": the build's own memory was used up
  /// It failed with nothing that was wrong with the source: a part of the compiler may have been
  /// killed, or have found no memory on this machine.
  bool doubtful = false;
};

/// [any thread] A builder process is made ahead, so that a build waits for the compiler alone.
class BuildPool {
 public:
  /// `zygotes`: start the dry runs of modules; null: there are none.
  BuildPool(Launcher& launcher, const EvaluatorOptions& options, Zygotes* zygotes);

  /// An Error is a fault of ours.
  Result<std::shared_ptr<const Built>> build(const BuildRequest& request);

  /// What there is to build device code for: its facts. Its architecture is taken where the configuration leaves that
  /// open; failed_precondition when another device has another.
  Status use_device(const Value& facts) HONE_EXCLUDES(mutex_);

  /// Compiles a known program with each toolchain: "c++: g++ (Debian …) 12.2.0; c: …", or what is
  /// missing.
  Result<std::string> self_test();

  /// failed_precondition when this machine builds no extensions of torch's of this kind.
  Status check_extensions(ExtensionKind kind) HONE_EXCLUDES(mutex_);

 private:
  struct Standby {
    std::unique_ptr<Process> process;
    UniqueFd socket;
  };
  Result<Standby> start_builder();
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

  Launcher& launcher_;
  const EvaluatorOptions& options_;
  Zygotes* const zygotes_;
  std::unique_ptr<Extensions> extensions_;  ///< where there are interpreters
  mutable Mutex mutex_;
  std::string architecture_ HONE_GUARDED_BY(mutex_);
  std::string device_ HONE_GUARDED_BY(mutex_);  ///< for dry runs
  std::list<Standby> standby_ HONE_GUARDED_BY(mutex_);
  struct Entry {
    std::shared_ptr<const Built> built;
    std::list<std::string>::iterator age;
  };
  std::map<std::string, Entry> cache_ HONE_GUARDED_BY(mutex_);
  std::list<std::string> ages_ HONE_GUARDED_BY(mutex_);  // front: the newest
  std::size_t cache_bytes_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
