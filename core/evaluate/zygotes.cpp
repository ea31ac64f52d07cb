// Starts both zygotes together, waits for each, and restarts those that have ended.
#include "evaluate/zygotes.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

constexpr int kFailuresMax =
    3;  // failures in a row; afterwards an interpreter is started for every process
constexpr std::chrono::seconds kPatience{20};  // wait for a zygote; then processes start without it

Result<std::unique_ptr<Launcher>> start_zygote(LauncherOptions options,
                                               const EvaluatorOptions& evaluator,
                                               const std::string& place,
                                               const std::string& architecture, int given_up) {
  options.given_up = given_up;
  const auto root = evaluator.libexec.parent_path();
  options.image = {evaluator.toolchains.at("python").compiler,
                   "-I",
                   "-B",
                   (root / "share/module/shared/zygote.py").string(),
                   place,
                   (evaluator.libexec / "hone-launcher.so").string(),
                   architecture};
  return Launcher::start(options);
}

}  // namespace

Zygotes::Zygotes(Launcher& cold, const EvaluatorOptions& options)
    : cold_(cold), options_(options), given_up_(::eventfd(0, EFD_CLOEXEC)) {}

Zygotes::~Zygotes() {
  ::eventfd_write(given_up_.get(), 1);  // a future waits for its task, which hears of it
}

/// Rationale: a zygote imports with the server's rights. If the server is root, a user who can write the imported files
/// would be root, too. An interpreter that is started for each process imports in its jail.
bool Zygotes::may_copy() {
  if (may_copy_) return *may_copy_;
  std::vector<std::string> parts = options_.python_readable;
  parts.push_back(options_.toolchains.at("python").compiler);
  const std::string foreign = ::geteuid() == 0 ? not_roots_own(parts) : "";
  may_copy_ = foreign.empty();
  if (!*may_copy_) {
    log_warning("evaluate", foreign +
                                ": users other than root can write to it, so hone cannot fork "
                                "modules from a zygote, and each start takes seconds; chown -R "
                                "root it, or run hone as its owner");
  }
  return *may_copy_;
}

void Zygotes::use_architecture(const std::string& architecture) {
  MutexLock lock(mutex_);
  architecture_ = architecture;
}

void Zygotes::begin(Use use) {
  Zygote& zygote = zygote_for(use);
  if (zygote.launcher != nullptr && zygote.launcher->alive()) return;
  if (zygote.coming.valid() || zygote.failures >= kFailuresMax) return;
  zygote.launcher.reset();
  zygote.begun = std::chrono::steady_clock::now();
  ++importing_;
  zygote.coming =
      std::async(std::launch::async, [options = cold_.options(), architecture = architecture_,
                                      place = place_of(options_, use), this] {
        auto started = start_zygote(options, options_, place, architecture, given_up_.get());
        --importing_;
        return started;
      });
}

std::shared_ptr<Launcher> Zygotes::ready(Zygote& zygote) {
  if (zygote.coming.valid()) {
    if (zygote.coming.wait_until(zygote.begun + kPatience) != std::future_status::ready)
      return nullptr;
    auto started = zygote.coming.get();
    if (started) {
      zygote.launcher = std::shared_ptr<Launcher>(std::move(*started));
      zygote.failures = 0;
    } else if (++zygote.failures == kFailuresMax ||
               started.error().code == Code::kDeadlineExceeded) {
      zygote.failures = kFailuresMax;
      // The error of a cold interpreter names the missing package.
      log_warning("evaluate", "zygotes: " + started.error().message);
    }
  }
  return zygote.launcher != nullptr && zygote.launcher->alive() ? zygote.launcher : nullptr;
}

void Zygotes::begin() {
  MutexLock lock(mutex_);
  if (!may_copy()) return;
  begin(Use::kTrusted);
  begin(Use::kSubmission);
  if (records_modules(options_)) begin(Use::kRecording);
}

Result<std::unique_ptr<Process>> Zygotes::spawn(const SpawnRequest& request, Use use) {
  begin();
  std::shared_ptr<Launcher> launcher;
  {
    MutexLock lock(mutex_);
    launcher = ready(zygote_for(use));
  }
  // Called without the lock: a launcher that hangs must not block the others.
  if (launcher == nullptr) return cold_.spawn(request);
  auto process = launcher->spawn(request);
  if (process || process.error().code != Code::kDeadlineExceeded) return process;
  log_warning("evaluate", "zygotes: " + process.error().message +
                              "; hone ends the zygote with all its processes and starts another");
  MutexLock lock(mutex_);
  Zygote& zygote = zygote_for(use);
  if (zygote.launcher == launcher) {
    zygote.launcher.reset();
    ++zygote.failures;
  }
  return unavailable(process.error().message);
}

}  // namespace hone
