// The priority of a process against all others of the machine.
#pragma once

#include <sys/types.h>

namespace hone {

/// The nice value of compilers, and of what else prepares a submission. At 10 they have a tenth of a core beside a
/// submission that is checked, and hardly disturb one that is timed.
inline constexpr int kBuilderPriority = 10;

/// Sets the nice value of a process (0: this one), and of its session's group where the kernel
/// schedules by those: there, nice values count within a session alone. Does what it may; without
/// the right to, nothing changes.
void set_priority(pid_t pid, int nice);
/// The same of all threads that the process has now.
void set_priority_of_threads(pid_t pid, int nice);

}  // namespace hone
