// Freezer by ptrace: seize, interrupt, wait for each thread, pass signals on.
#include "sandbox/ptrace_freezer.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sandbox/cgroup.hpp"

namespace hone {
namespace {

constexpr std::uint32_t kLookEach = 256;  // wait rounds between two scans of /proc
constexpr std::int64_t kSeizeNs = 2'000'000'000;
constexpr double kFreezeSeconds = 2;
constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;

/// kLingering: dead, but not reported yet. The tracer must wait for every thread, otherwise the process can
/// never be reaped. The first thread is reported after all others.
enum class Run { kRunning, kStopped, kLingering, kGone };

class PtraceFreezer final : public Freezer {
 public:
  explicit PtraceFreezer(pid_t pid) : pid_(pid) {}

  /// Detaches all threads, if that is possible quickly. Otherwise the kernel kills the process when this
  /// tracer ends (EXITKILL).
  ~PtraceFreezer() override {
    (void)freeze(0.1);
    // A process whose first thread has ended cannot be detached completely. No working candidate is in this
    // state.
    if (first_lingers()) ::kill(pid_, SIGKILL);
    const std::int64_t deadline = monotonic_ns() + 100'000'000;
    while (!threads_.empty() && monotonic_ns() < deadline) {
      for (auto& [tid, run] : threads_) {
        if (run == Run::kStopped && ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr) == 0)
          run = Run::kGone;
      }
      notice_deaths();  // the parent can reap a killed process only after the tracer has waited for its threads
                        // threads
    }
  }

  /// Rationale: a thread whose creator was seized during clone is not traced, and it is visible only after
  /// its creator has continued. So the last scan is made while all known threads are stopped.
  Status seize_all() {
    const std::int64_t deadline = monotonic_ns() + kSeizeNs;
    do {
      if (monotonic_ns() > deadline)
        return Error{Code::kDeadlineExceeded,
                     "ptrace: the process creates threads faster than they can be seized"};
      HONE_TRY(seize_listed());
      HONE_TRY(freeze(kFreezeSeconds));
    } while (any_unknown());
    return thaw();
  }

  /// Scans again until no new thread is found, because threads may be made during a scan.
  Status seize_listed() {
    bool found_new = true;
    while (found_new) {
      HONE_ASSIGN(const std::vector<pid_t> tids, list_threads());
      found_new = false;
      for (const pid_t tid : tids) {
        if (threads_.contains(tid)) continue;
        if (::ptrace(PTRACE_SEIZE, tid, nullptr, kOptions) != 0) {
          // ESRCH, or a zombie: the thread has ended meanwhile. Already traced: its creator was traced.
          if (errno == ESRCH || is_dead(tid)) continue;
          if (!is_traced(tid)) return system_error("seize thread " + std::to_string(tid), EPERM);
        }
        threads_[tid] = Run::kRunning;
        found_new = true;
      }
    }
    if (threads_.empty()) return not_found("ptrace: no thread is left");
    return {};
  }

  Status freeze(double timeout_s) override {
    const std::int64_t deadline = monotonic_ns() + static_cast<std::int64_t>(timeout_s * 1e9);
    notice_deaths();
    freezing_ = true;
    for (auto& [tid, run] : threads_) interrupt(tid, run);
    for (std::uint32_t round = 1;; ++round) {
      bool all = true;
      // New threads are added during the loop; map iterators stay valid.
      for (auto& [tid, run] : threads_) {
        if (run == Run::kRunning) step(tid, run);
        if (run == Run::kRunning && round % kLookEach == 0) look_whether_dead(tid, run);
        all = all && run != Run::kRunning;
      }
      forget_dead();
      if (threads_.empty()) return not_found("freeze: the process has ended");
      if (all && any_stopped()) return {};
      notice_deaths();
      if (monotonic_ns() > deadline) {
        (void)thaw();
        return Error{Code::kDeadlineExceeded, "freeze: not confirmed in time"};
      }
    }
  }

  Status thaw() override {
    freezing_ = false;
    for (auto& [tid, run] : threads_) {
      if (run != Run::kStopped) continue;
      run = ::ptrace(PTRACE_CONT, tid, nullptr, nullptr) == 0 ? Run::kRunning : Run::kLingering;
    }
    forget_dead();
    return {};
  }

  void service() override {
    notice_deaths();
    if (freezing_) return;
    for (auto& [tid, run] : threads_) step(tid, run);
    if (++services_ % kLookEach == 0) {
      const auto first = threads_.find(pid_);
      if (first != threads_.end() && first->second == Run::kRunning)
        look_whether_dead(pid_, first->second);
    }
    forget_dead();
  }

 private:
  Result<std::vector<pid_t>> list_threads() const {
    std::vector<pid_t> tids;
    DIR* folder = ::opendir(("/proc/" + std::to_string(pid_) + "/task").c_str());
    if (folder == nullptr) return not_found("ptrace: no process " + std::to_string(pid_));
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] != '.') tids.push_back(std::atoi(entry->d_name));
    }
    ::closedir(folder);
    return tids;
  }

  std::string proc_file(pid_t tid, const char* name) const {
    return read_kernel_file("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(tid) + "/" +
                            name);
  }

  bool is_traced(pid_t tid) const {
    return proc_file(tid, "status").find("TracerPid:\t" + std::to_string(::gettid()) + "\n") !=
           std::string::npos;
  }

  /// If the first thread has ended before the others, it is a zombie that no wait reports.
  bool is_dead(pid_t tid) const {
    const std::string stat = proc_file(tid, "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= stat.size()) return true;
    return stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
  }

  void look_whether_dead(pid_t tid, Run& run) const {
    if (is_dead(tid)) run = Run::kLingering;
  }
  bool any_unknown() const {
    const auto tids = list_threads();
    return tids && std::any_of(tids->begin(), tids->end(), [this](pid_t tid) {
             return !threads_.contains(tid) && !is_dead(tid);
           });
  }
  bool any_stopped() const {
    return std::any_of(threads_.begin(), threads_.end(),
                       [](const auto& entry) { return entry.second == Run::kStopped; });
  }
  bool first_lingers() const {
    const auto leader = threads_.find(pid_);
    return leader != threads_.end() && leader->second == Run::kLingering;
  }

  /// If a thread's creator is killed before its clone event arrives, the new thread is traced but unknown. Only the tracer can wait for it, and its process cannot be reaped until then.
  void adopt_strays() {
    const auto tids = list_threads();
    if (!tids) return;
    for (const pid_t tid : *tids) {
      if (threads_.contains(tid) || !is_traced(tid)) continue;
      Run& run = threads_[tid] = Run::kRunning;
      if (freezing_) interrupt(tid, run);
    }
  }

  void interrupt(pid_t tid, Run& run) {
    if (run != Run::kRunning) return;
    if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) look_whether_dead(tid, run);
  }

  /// Reads one report about the thread, if there is one, and responds to it.
  void step(pid_t tid, Run& run) {
    if (run != Run::kRunning) return;
    int status = 0;
    const pid_t waited = ::waitpid(tid, &status, __WALL | WNOHANG);
    if (waited == 0) return;
    if (waited < 0 || !WIFSTOPPED(status)) {
      run = Run::kGone;
      return;
    }
    const int event = status >> 16;
    long pass_on = 0;
    if (event == PTRACE_EVENT_STOP) {
      if (freezing_) {
        run = Run::kStopped;
        return;
      }
    } else if (event == PTRACE_EVENT_CLONE) {
      unsigned long made = 0;
      ::ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &made);
      const auto [place, is_new] = threads_.emplace(static_cast<pid_t>(made), Run::kRunning);
      if (freezing_ && is_new) interrupt(place->first, place->second);
    } else if (event == 0) {
      pass_on = WSTOPSIG(status);
    }
    if (freezing_) ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    if (::ptrace(PTRACE_CONT, tid, nullptr, pass_on) != 0) run = Run::kLingering;
  }

  /// A stopped thread can only be killed, a lingering one only be reported.
  void notice_deaths() {
    if (first_lingers()) adopt_strays();
    for (auto& [tid, run] : threads_) {
      if (run != Run::kStopped && run != Run::kLingering) continue;
      int status = 0;
      const pid_t waited = ::waitpid(tid, &status, __WALL | WNOHANG);
      if (waited < 0 || (waited > 0 && !WIFSTOPPED(status))) run = Run::kGone;
    }
    forget_dead();
  }

  void forget_dead() {
    std::erase_if(threads_, [](const auto& entry) { return entry.second == Run::kGone; });
  }

  const pid_t pid_;
  std::map<pid_t, Run> threads_;
  bool freezing_ = false;
  std::uint32_t services_ = 0;
};

}  // namespace

Result<std::unique_ptr<Freezer>> make_ptrace_freezer(pid_t pid) {
  auto freezer = std::make_unique<PtraceFreezer>(pid);
  HONE_TRY(freezer->seize_all());
  return std::unique_ptr<Freezer>(std::move(freezer));
}

}  // namespace hone
