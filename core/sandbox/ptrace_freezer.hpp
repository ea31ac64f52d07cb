// Freezer by ptrace, for machines without a cgroup that can be frozen.
#pragma once

#include <sys/types.h>

#include <memory>

#include "sandbox/freezer.hpp"

namespace hone {

/// Theory of operation. Every thread is seized; new ones are seized by the kernel as they are made
/// (TRACECLONE, which the seal's filter keeps a thread from evading). To freeze, each is
/// interrupted until it sits in PTRACE_EVENT_STOP, the one stop that counts: any other stop (a
/// signal about to be delivered, a clone) also consumes the pending interrupt, so it is answered
/// with a new interrupt and a continuation, after which the thread stops again before its first
/// instruction in user space. Nothing but the tracer lifts such a stop: not SIGCONT, not a timer. A
/// candidate that stops itself (SIGSTOP) is let go on.
Result<std::unique_ptr<Freezer>> make_ptrace_freezer(pid_t pid);

}  // namespace hone
