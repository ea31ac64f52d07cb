// Seals: restrictions that a process applies to itself, irreversibly, before it runs untrusted code.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "sandbox/device_files.hpp"

namespace hone {

struct SealOptions {
  bool threads = false;  ///< may make threads (never processes)
  bool device = false;   ///< hone's code drives a device, which runs the untrusted code
  /// Folders that an interpreter imports from; empty for candidates of native code.
  std::vector<std::string> readable = {};
  /// A folder with write access; empty: none. Without Landlock nothing can be written.
  std::string writable = {};
  bool landlock = true;
  bool seccomp = true;
};

/// For hone-candidate, after its own set-up and before it loads the submission. Applies no_new_privs,
/// Landlock and a seccomp allow-list. Landlock allows only `readable` and `writable`; open memory files can
/// still be loaded through /proc/self/fd. Allowed: memory, futexes, time, signals to itself, reads and writes
/// of open descriptors, exit. Not allowed: opening files for writing, sockets, new processes, signals to
/// others, io_uring, aio, ptrace, timers that the freezer cannot stop, new kernel objects. A forbidden call
/// fails with EPERM (clone3: ENOSYS), so that fallbacks of libraries work; a call that only an escape would
/// use kills the process.
Status seal_candidate(const SealOptions& options);

/// For a module's interpreter, before it opens a device. As seal_builder, because Triton runs compilers, and
/// also the devices' nodes and /proc, where drivers name their threads.
Status seal_module(const std::vector<std::string>& readable, const std::string& writable,
                   const DeviceFiles& device);

/// For hone-player, before it starts a device's sanitizer. As seal_module, and the sanitizer may make named pipes and
/// connect to its own sockets. Needs a network namespace of its own: the filter cannot see the address of a connection.
Status seal_sanitizer(const std::vector<std::string>& readable, const std::string& writable,
                      const DeviceFiles& device);

/// For hone-builder, before it starts the compiler: no_new_privs, Landlock (toolchain read and
/// execute, the work folder read and write), and a seccomp list that lets compilers run and denies
/// sockets, ptrace, mounts, namespaces, keys, io_uring, bpf, perf, userfaultfd and the like.
Status seal_builder(const std::vector<std::string>& readable, const std::string& writable);

/// For judge and launcher, first in main (an exec undoes it): other processes of the same user cannot read
/// their memory, environment or descriptors.
Status guard_trusted_process();

}  // namespace hone
