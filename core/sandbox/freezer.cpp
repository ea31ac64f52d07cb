// Freezer by cgroup v2's own switch.
#include "sandbox/freezer.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/clock.hpp"
#include "sandbox/ptrace_freezer.hpp"

namespace hone {
namespace {

// Time for which freeze() spins before it sleeps between checks (ns). Rationale: spinning could take the core that
// a process of lower priority needs to reach its freeze.
constexpr std::int64_t kSpinNs = 1'000'000;

class CgroupFreezer final : public Freezer {
 public:
  CgroupFreezer(int freeze_fd, int events_fd) : freeze_fd_(freeze_fd), events_fd_(events_fd) {}

  Status freeze(double timeout_s) override {
    HONE_TRY(write("1"));
    const std::int64_t start = monotonic_ns();
    const std::int64_t deadline = start + static_cast<std::int64_t>(timeout_s * 1e9);
    for (;;) {
      char text[128];
      const ssize_t size = ::pread(events_fd_, text, sizeof text, 0);
      if (size < 0) return gone_or("read cgroup.events");
      const std::string_view events(text, static_cast<std::size_t>(size));
      if (events.find("populated 0") != events.npos)
        return not_found("freeze: the process has ended");
      if (events.find("frozen 1") != events.npos) return {};
      const std::int64_t now = monotonic_ns();
      if (now > start + kSpinNs) ::usleep(50);
      if (now > deadline) {
        (void)write("0");
        return Error{Code::kDeadlineExceeded, "freeze: not confirmed in time"};
      }
    }
  }

  Status thaw() override { return write("0"); }
  void service() override {}

 private:
  static Status gone_or(const char* what) {
    // ENOENT: the kernel has just removed the group.
    if (errno == ENODEV || errno == ENOENT)
      return not_found("freeze: the control group was removed");
    return system_error(what, errno);
  }
  Status write(const char* value) {
    if (::pwrite(freeze_fd_, value, 1, 0) != 1) return gone_or("write cgroup.freeze");
    return {};
  }

  const int freeze_fd_, events_fd_;  // borrowed
};

}  // namespace

Result<std::unique_ptr<Freezer>> Freezer::with_cgroup(int freeze_fd, int frozen_events_fd) {
  if (freeze_fd < 0 || frozen_events_fd < 0) {
    return failed_precondition("freezer: the process has no cgroup");
  }
  return std::unique_ptr<Freezer>(std::make_unique<CgroupFreezer>(freeze_fd, frozen_events_fd));
}

Result<std::unique_ptr<Freezer>> Freezer::with_ptrace(pid_t pid) {
  return make_ptrace_freezer(pid);
}

}  // namespace hone
