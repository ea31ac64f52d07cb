// Freezer by ptrace, for machines without cgroup.freeze.
#pragma once

#include <sys/types.h>

#include <memory>

#include "sandbox/freezer.hpp"

namespace hone {

/// Theory of operation. Every thread is seized. The kernel seizes new threads when they are made (TRACECLONE,
/// which the seal's filter prevents a thread from evading). To freeze, each thread is interrupted until it is
/// in PTRACE_EVENT_STOP; no other stop counts. Another stop (a signal delivery, a clone) also consumes the
/// pending interrupt. Then the thread is interrupted again and continued, and stops before its first
/// instruction in user space. Only the tracer ends such a stop: neither SIGCONT nor a timer does. A candidate
/// that stops itself (SIGSTOP) is continued.
Result<std::unique_ptr<Freezer>> make_ptrace_freezer(pid_t pid);

}  // namespace hone
