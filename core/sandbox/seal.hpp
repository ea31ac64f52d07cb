// Seals: restrictions that a process applies to itself, irreversibly, before it runs untrusted code.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "sandbox/device_files.hpp"

namespace hone {

struct SealOptions {
  bool threads = false;  ///< may make threads (never processes)
  bool device = false;   ///< code of ours that drives a device, which runs what is foreign
  /// Folders that an interpreter reads what it imports from; candidates of native code see none.
  std::vector<std::string> readable = {};
  /// A folder that it may write in; empty: none. Without Landlock nothing can be written.
  std::string writable = {};
  bool landlock = true;
  bool seccomp = true;
};

/// For hone-candidate, between its own set-up and loading the submission: no_new_privs, Landlock
/// with no path at all, but for `readable` and `writable` (memory files that are already open can still be loaded through
/// /proc/self/fd), and a seccomp allow-list: memory, futex, time, its own signals, reads and writes
/// of open descriptors, exit; no open for writing, sockets, clone of a process, signals to others,
/// io_uring, aio, ptrace, timers that the freezer could not stop, or new kernel objects. A
/// forbidden call answers EPERM (clone3: ENOSYS), so that a library's fall-back works, or kills
/// where it is an escape.
Status seal_candidate(const SealOptions& options);

/// For a module's interpreter that will open a device, before it does: as seal_builder, for Triton runs
/// compilers, with the devices' nodes, and /proc, where drivers name their threads.
Status seal_module(const std::vector<std::string>& readable, const std::string& writable,
                   const DeviceFiles& device);

/// For hone-builder, before it starts the compiler: no_new_privs, Landlock (toolchain read and
/// execute, the work folder read and write), and a seccomp list that lets compilers run and denies
/// sockets, ptrace, mounts, namespaces, keys, io_uring, bpf, perf, userfaultfd and the like.
Status seal_builder(const std::vector<std::string>& readable, const std::string& writable);

/// For judge and launcher, first thing in main (exec undoes it): no other process of the same user
/// may read their memory, environment or descriptors.
Status guard_trusted_process();

}  // namespace hone
