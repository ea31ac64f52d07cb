// Supervisor: the parent of a builder. It ends the builder's leftover processes. Also other functions that
// end many processes.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.hpp"

namespace hone {

/// clone(2) with these flags, but like fork(2): glibc in the child knows its new thread number. `cgroup_fd` ≥
/// 0: makes the child in that group if the kernel can; *in_cgroup tells whether it did.
pid_t fork_with(unsigned long long flags, int cgroup_fd = -1, bool* in_cgroup = nullptr);

/// Forks. The child gets true and becomes the builder. The parent returns only if the fork failed. Otherwise
/// it waits for the child, writes its wait status (an int) to status_fd, ends all descendants and exits.
Result<bool> fork_supervised(int status_fd, bool owns_pid_namespace);

/// Sends SIGKILL to every process of `user`, from a short-lived child with that user. Returns whether any may
/// be left.
bool kill_all_of_user(uid_t user);

/// One attempt to SIGKILL the calling (single) thread's children that are not in `known`, and all their
/// descendants. It first prevents them from forking: processes of a fork bomb make new ones as fast as they
/// are killed one by one. Returns whether any may be left.
bool end_children(const std::vector<pid_t>& known);

}  // namespace hone
