// WarmInterpreters: launchers that have imported torch and Triton, whose processes are interpreters of modules in
// milliseconds.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/options.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// [any thread] Two launchers, started at the first use: what a submission learns of its own process, such as
/// where things lie in it, says nothing of the processes of reference and baseline.
class WarmInterpreters {
 public:
  enum class Use { kTrusted, kSubmission };

  /// `cold` starts what they cannot; it and `options` outlive this.
  WarmInterpreters(Launcher& cold, const EvaluatorOptions& options);
  /// Gives up imports that are under way.
  ~WarmInterpreters();

  /// What is compiled for, "sm_90a", before the first use; else nothing is.
  void use_architecture(const std::string& architecture);

  /// Begins the imports, for whoever comes first.
  void begin();

  /// Whether an interpreter is importing now; spawn() waits for it.
  bool importing() const { return importing_ > 0; }

  /// A process as `cold` would start it: at its interpreter's first instruction, or past its imports.
  Result<std::unique_ptr<Process>> spawn(const SpawnRequest& request, Use use);

 private:
  struct Warm {
    std::future<Result<std::unique_ptr<Launcher>>> coming;
    std::chrono::steady_clock::time_point begun;
    std::shared_ptr<Launcher> launcher;  ///< shared with spawns that are under way
    int failures = 0;
  };
  bool may_copy() HONE_REQUIRES(mutex_);
  void begin(Warm& warm) HONE_REQUIRES(mutex_);
  /// Null where it is not, or nothing may be copied: `cold` serves.
  std::shared_ptr<Launcher> ready(Warm& warm) HONE_REQUIRES(mutex_);

  Launcher& cold_;
  const EvaluatorOptions& options_;
  std::atomic<int> importing_{0};
  const UniqueFd given_up_;  ///< readable: what is coming is not needed any more
  Mutex mutex_;
  std::string architecture_ HONE_GUARDED_BY(mutex_);
  std::optional<bool> may_copy_ HONE_GUARDED_BY(mutex_);  ///< once it has been looked at
  Warm trusted_ HONE_GUARDED_BY(mutex_), submissions_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
