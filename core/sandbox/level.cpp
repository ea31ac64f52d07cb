// Isolation levels: names, requirements, and the launcher's choice.
#include "sandbox/level.hpp"

#include <algorithm>

namespace hone {
namespace {

constexpr std::string_view kNames[] = {"none", "filtered", "separated", "private"};

}  // namespace

std::string_view isolation_name(IsolationLevel level) { return kNames[static_cast<int>(level)]; }

Result<IsolationLevel> parse_isolation(std::string_view name) {
  for (int level = 0; level < 4; ++level) {
    if (name == kNames[level]) return static_cast<IsolationLevel>(level);
  }
  return invalid_argument("isolation level: found '" + std::string(name) +
                          "', expected none, filtered, separated or private");
}

IsolationLevel Capabilities::level() const {
  const bool own_user = slot_users || (user_namespace && !root);
  const bool own_root = mount_namespace && network_namespace && own_user;
  if (!seccomp) return IsolationLevel::kNone;
  if (own_root) return IsolationLevel::kPrivate;
  if (landlock_abi == 0) return IsolationLevel::kNone;  // without it a process could open files
  return own_user ? IsolationLevel::kSeparated : IsolationLevel::kFiltered;
}

std::string Capabilities::freezer() const {
  if (cgroup_freeze) return "cgroup";
  return ptrace ? "ptrace" : "";
}

Ready decide(const LauncherOptions& options, const Capabilities& capabilities) {
  Ready ready;
  ready.capabilities = capabilities;
  const bool automatic = options.freezer.empty() || options.freezer == "auto";
  ready.freezer = automatic ? capabilities.freezer() : options.freezer;
  Capabilities used = capabilities;
  // The judge must be able to freeze a candidate that has another user.
  if (ready.freezer == "ptrace" && !capabilities.ptrace_users && used.slot_users) {
    used.slot_users = false;
    ready.no_slot_users_reason =
        "candidates do not get their own users, because the judge could not freeze them; to allow "
        "that, provide "
        "a writable cgroup v2, or CAP_SYS_PTRACE (in Docker: --cap-add SYS_PTRACE)";
  }
  if (options.maximum < IsolationLevel::kPrivate) used.mount_namespace = false;
  if (options.maximum < IsolationLevel::kSeparated) used.slot_users = used.user_namespace = false;
  ready.level = std::min(used.level(), options.maximum);
  if (ready.level < options.minimum) {
    ready.refused = "isolation level: found " + std::string(isolation_name(ready.level)) +
                    ", expected at least " + std::string(isolation_name(options.minimum));
    if (!ready.no_slot_users_reason.empty()) ready.refused += "; " + ready.no_slot_users_reason;
  }
  if (!automatic && options.freezer != "cgroup" && options.freezer != "ptrace") {
    ready.refused = "freezer: found '" + options.freezer + "', expected auto, cgroup or ptrace";
  } else if (ready.freezer.empty()) {
    ready.refused = "freezer: this machine supports neither cgroup.freeze nor ptrace";
  } else if ((ready.freezer == "cgroup" && !capabilities.cgroup_freeze) ||
             (ready.freezer == "ptrace" && !capabilities.ptrace)) {
    ready.refused = "freezer: no " + ready.freezer + " on this machine";
  }
  if (!capabilities.pidfd)
    ready.refused = "pidfd_open: missing in this kernel; it needs Linux 5.3, or a newer gVisor";
  if (ready.refused.empty()) return ready;
  ready.refused_code = Code::kFailedPrecondition;
  for (const std::string& note : capabilities.notes) ready.refused += "; " + note;
  return ready;
}

bool uses_slot_user(const Ready& ready, const LauncherOptions& options, Jail jail) {
  if (jail == Jail::kJudge || !ready.capabilities.slot_users) return false;
  if (options.maximum < IsolationLevel::kSeparated) return false;
  return jail == Jail::kBuilder || ready.freezer != "ptrace" || ready.capabilities.ptrace_users;
}

}  // namespace hone
