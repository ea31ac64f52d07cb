// Jail: the set-up of a sandboxed process, from the launcher's clone to the program's first instruction.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// main() of an image that the launcher has in memory. A process starts there as a copy of the launcher,
/// without an exec. Its result is the exit status.
using Image = int (*)(int argc, char** argv, char** envp);

/// All decisions that are made before the clone. Borrowed pointers must outlive the call.
struct JailPlan {
  const SpawnRequest* request = nullptr;
  const Cgroup* cgroup = nullptr;  ///< may be null
  bool user_namespace = false;     ///< when not root
  bool private_root = false;       ///< with mount, network, ipc and host name namespaces
  bool pid_namespace = false;
  bool change_user = false;
  uid_t user = 0;                       ///< with change_user
  std::string work_folder;              ///< without a private root: the folder of has_work_folder()
  const DeviceFiles* device = nullptr;  ///< visible if the request asks for the device
  std::string plugins;                  ///< folder that candidates with a private root can read
  std::string libraries;  ///< libraries of a bundle, for programs in a private root; may not exist
  Image image = nullptr;  ///< runs instead of the request's program, with its arguments
  std::vector<UniqueFd> fds;  ///< become 3, 4, …
  bool limit_data = false;    ///< limit memory coarsely by RLIMIT_DATA, because no cgroup limits it
  int processes_of_others =
      0;  ///< processes of the same user outside this jail, which RLIMIT_NPROC also counts
};

/// Whether the process has a writable folder, which is also its working folder.
bool has_work_folder(const SpawnRequest& request);

/// The launcher's ends of a started jail.
struct JailStart {
  pid_t pid = -1;
  UniqueFd pidfd;
  UniqueFd output;  ///< stdout and stderr, non-blocking
  UniqueFd
      failure;      ///< carries a message if the set-up failed; closes when the program has started
  UniqueFd status;  ///< builders: the program's wait status, from the supervisor
};

/// Clones the child. Returns at once; whether the program starts is heard on `failure`.
///
/// Theory of operation. A judge or candidate is the clone itself. A builder is a child of the
/// clone, which stays as its supervisor: pid 1 of a pid namespace, or else a subreaper. It waits
/// for the builder, reports the status, and ends whatever the builder has left behind. The clone
/// dies with the launcher by its parent-death signal.
Result<JailStart> start_jail(const JailPlan& plan);

}  // namespace hone
