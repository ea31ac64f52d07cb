// Warm launchers: begun together, waited for one by one, begun again when they have ended.
#include "evaluate/warm_interpreters.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

constexpr int kFailuresMax =
    3;  // in a row, and an interpreter is started for every process instead
constexpr std::chrono::seconds kPatience{20};  // then the same is done meanwhile

Result<std::unique_ptr<Launcher>> start_warm(LauncherOptions options,
                                             const EvaluatorOptions& evaluator,
                                             const std::string& architecture, int given_up) {
  options.given_up = given_up;
  const auto root = evaluator.libexec.parent_path();
  options.image = {evaluator.toolchains.at("python").compiler,
                   "-I",
                   "-B",
                   (root / "share/module/shared/zygote.py").string(),
                   module_place_of(evaluator),
                   (evaluator.libexec / "hone-launcher.so").string(),
                   architecture};
  return Launcher::start(options);
}

}  // namespace

WarmInterpreters::WarmInterpreters(Launcher& cold, const EvaluatorOptions& options)
    : cold_(cold), options_(options), given_up_(::eventfd(0, EFD_CLOEXEC)) {}

WarmInterpreters::~WarmInterpreters() {
  ::eventfd_write(given_up_.get(), 1);  // a future waits for its task, which hears of it
}

/// Rationale: what an interpreter imports runs with our own rights before it is copied, so where we are root, who can
/// write it would be, too. One that is started for each process imports in its jail.
bool WarmInterpreters::may_copy() {
  if (may_copy_) return *may_copy_;
  std::vector<std::string> parts = options_.python_readable;
  parts.push_back(options_.toolchains.at("python").compiler);
  const std::string foreign = ::geteuid() == 0 ? not_roots_own(parts) : "";
  may_copy_ = foreign.empty();
  if (!*may_copy_) {
    log_warning("evaluate", foreign +
                                ": not root's alone to write, so that interpreters of modules are "
                                "started one by one, which takes seconds each; chown -R root it, "
                                "or run hone as its owner");
  }
  return *may_copy_;
}

void WarmInterpreters::use_architecture(const std::string& architecture) {
  MutexLock lock(mutex_);
  architecture_ = architecture;
}

void WarmInterpreters::begin(Warm& warm) {
  if (warm.launcher != nullptr && warm.launcher->alive()) return;
  if (warm.coming.valid() || warm.failures >= kFailuresMax) return;
  warm.launcher.reset();
  warm.begun = std::chrono::steady_clock::now();
  ++importing_;
  warm.coming = std::async(
      std::launch::async, [options = cold_.options(), architecture = architecture_, this] {
        auto started = start_warm(options, options_, architecture, given_up_.get());
        --importing_;
        return started;
      });
}

std::shared_ptr<Launcher> WarmInterpreters::ready(Warm& warm) {
  if (warm.coming.valid()) {
    if (warm.coming.wait_until(warm.begun + kPatience) != std::future_status::ready) return nullptr;
    auto started = warm.coming.get();
    if (started) {
      warm.launcher = std::shared_ptr<Launcher>(std::move(*started));
      warm.failures = 0;
    } else if (++warm.failures == kFailuresMax || started.error().code == Code::kDeadlineExceeded) {
      warm.failures = kFailuresMax;
      // What is missing is heard when an interpreter of its own says it.
      log_warning("evaluate", "warm interpreters: " + started.error().message);
    }
  }
  return warm.launcher != nullptr && warm.launcher->alive() ? warm.launcher : nullptr;
}

void WarmInterpreters::begin() {
  MutexLock lock(mutex_);
  if (!may_copy()) return;
  begin(trusted_);
  begin(submissions_);
}

Result<std::unique_ptr<Process>> WarmInterpreters::spawn(const SpawnRequest& request, Use use) {
  begin();
  std::shared_ptr<Launcher> launcher;
  {
    MutexLock lock(mutex_);
    launcher = ready(use == Use::kTrusted ? trusted_ : submissions_);
  }
  // Without the lock: one launcher that hangs is not to hold up what the others start.
  if (launcher == nullptr) return cold_.spawn(request);
  auto process = launcher->spawn(request);
  if (process || process.error().code != Code::kDeadlineExceeded) return process;
  log_warning("evaluate", "warm interpreters: " + process.error().message +
                              "; they are ended with all that they started, and begun anew");
  MutexLock lock(mutex_);
  Warm& warm = use == Use::kTrusted ? trusted_ : submissions_;
  if (warm.launcher == launcher) {
    warm.launcher.reset();
    ++warm.failures;
  }
  return unavailable(process.error().message);
}

}  // namespace hone
