// Supervisor: the parent of a builder, which outlives it by a moment to end what it left behind;
// and other ways to end many processes.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.hpp"

namespace hone {

/// clone(2) with these flags, as fork(2) would: the child's own thread knows its new number, which glibc keeps.
/// `cgroup_fd` ≥ 0: into that group where the kernel can, and *in_cgroup says whether.
pid_t fork_with(unsigned long long flags, int cgroup_fd = -1, bool* in_cgroup = nullptr);

/// Forks. The child gets true and goes on to become the builder. The caller never returns unless
/// the fork failed: it waits for the child, writes its wait status (an int) to status_fd, ends all
/// descendants and exits.
Result<bool> fork_supervised(int status_fd, bool owns_pid_namespace);

/// SIGKILL to every process of `user`, sent by a short-lived child that is that user. Whether any
/// may be left.
bool kill_all_of_user(uid_t user);

/// One attempt to SIGKILL the calling (single) thread's children that are not in `known`, and all
/// their descendants. They are kept from forking first: killed one by one, the processes of a fork
/// bomb are replaced by the others as fast as they die. Whether any may be left.
bool end_children(const std::vector<pid_t>& known);

}  // namespace hone
