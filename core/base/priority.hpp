// The priority of a process among all processes of the machine.
#pragma once

#include <sys/types.h>

namespace hone {

/// The nice value of compilers and other preparations. At 10 they get a tenth of a core next to a checked submission, and hardly disturb a timed one.
inline constexpr int kBuilderPriority = 10;

/// Sets the nice value of a process (0: this one). If the kernel schedules sessions in groups, it sets the nice value of the group, too, because values count only within a group. Without the permission, nothing changes.
void set_priority(pid_t pid, int nice);
/// The same for all present threads of the process.
void set_priority_of_threads(pid_t pid, int nice);

}  // namespace hone
