// Detects the sandbox features of this machine by trying them in a child process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// Strength of the sandbox. Each level includes all lower ones.
enum class IsolationLevel {
  kNone = 0,       ///< rlimits, empty environment, parent-death signal, capped output
  kFiltered = 1,   ///< no_new_privs, seccomp allow-list and Landlock: no file, no network, no other
                   ///< process
  kSeparated = 2,  ///< and a user of its own for every slot (root only), or a user namespace
  kPrivate = 3,    ///< and namespaces with a private root
};
/// "none", "filtered", "separated", "private".
std::string_view isolation_name(IsolationLevel level);
Result<IsolationLevel> parse_isolation(std::string_view name);

/// Features of this machine. `notes` has the reason for each missing one: "landlock: missing in this kernel (ENOSYS)".
struct Capabilities {
  bool root = false;
  int landlock_abi = 0;  ///< 0: none
  bool seccomp = false;
  bool user_namespace = false;   ///< may be made without root
  bool mount_namespace = false;  ///< a private root was built and entered in a trial
  bool pid_namespace = false;
  bool network_namespace = false;
  bool slot_users = false;  ///< setresuid to other users works
  bool cgroup_freeze =
      false;  ///< a cgroup v2 with cgroup.freeze in which this process can make children
  bool cgroup_memory =
      false;  ///< v2 memory.max, or a v1 memory controller, in which this process can make children
  bool cgroup_pids = false;
  bool pidfd = false;         ///< pidfds exist; without them nothing can be started
  bool ptrace = false;        ///< a sibling process that allows it can be traced
  bool ptrace_users = false;  ///< also a sibling of another user (root in a container often cannot)
  std::string cgroup_v2_root;  ///< folder in which children can be made; empty: none
  std::string cgroup_v1_memory_root;
  std::string cgroup_v1_pids_root;
  std::string kernel;
  std::vector<std::string> notes;

  IsolationLevel level() const;
  /// Freezer for candidates: "cgroup", "ptrace" or "" (none; hone refuses to serve).
  std::string freezer() const;
};

/// Tries all features in short-lived children, in about 20 ms, without lasting changes.
Capabilities probe_machine();

}  // namespace hone
