// Zygotes: launchers that have imported torch and Triton. Interpreters of modules are forked from them in milliseconds.
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

/// [any thread] One zygote for each Use; that of recordings only if modules are recorded. begin() starts them, and each spawn()
/// starts those that are missing. Rationale: the addresses that a submission finds in its own process say nothing about the processes of reference and baseline. That of recordings has another driver.
class Zygotes {
 public:
  enum class Use { kTrusted, kSubmission, kRecording };
  /// Where modules compute, in the words of module_environment.py.
  static std::string place_of(const EvaluatorOptions& options, Use use) {
    return use == Use::kRecording ? "recorder" : module_place_of(options);
  }

  /// `cold` starts processes if there is no zygote; it and `options` outlive this.
  Zygotes(Launcher& cold, const EvaluatorOptions& options);
  /// Gives up imports that are under way.
  ~Zygotes();

  /// The architecture to compile for, "sm_90a". Before the first use; without it, nothing is compiled ahead.
  void use_architecture(const std::string& architecture);

  /// Begins the imports.
  void begin();

  /// Whether a zygote is importing now; spawn() waits for it.
  bool importing() const { return importing_ > 0; }

  /// A process as `cold` would start it: at its interpreter's first instruction, or past its imports.
  Result<std::unique_ptr<Process>> spawn(const SpawnRequest& request, Use use);

 private:
  struct Zygote {
    std::future<Result<std::unique_ptr<Launcher>>> coming;
    std::chrono::steady_clock::time_point begun;
    std::shared_ptr<Launcher> launcher;  ///< shared with spawns that are under way
    int failures = 0;
  };
  bool may_copy() HONE_REQUIRES(mutex_);
  void begin(Use use) HONE_REQUIRES(mutex_);
  Zygote& zygote_for(Use use) HONE_REQUIRES(mutex_) { return zygotes_[static_cast<int>(use)]; }
  /// Null if there is none; then `cold` serves.
  std::shared_ptr<Launcher> ready(Zygote& zygote) HONE_REQUIRES(mutex_);

  Launcher& cold_;
  const EvaluatorOptions& options_;
  std::atomic<int> importing_{0};
  const UniqueFd given_up_;  ///< readable once imports are not needed any more
  Mutex mutex_;
  std::string architecture_ HONE_GUARDED_BY(mutex_);
  std::optional<bool> may_copy_ HONE_GUARDED_BY(mutex_);  ///< once it has been checked
  Zygote zygotes_[3] HONE_GUARDED_BY(mutex_);             ///< by Use
};

}  // namespace hone
