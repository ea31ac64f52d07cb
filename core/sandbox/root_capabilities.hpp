// The Linux capabilities that jails need when hone runs as root; a container may lack some.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace hone {

/// Names those of these capabilities ("SYS_PTRACE", …) that this process lacks: " (CAP_SYS_PTRACE is
/// missing; in Docker: --cap-add SYS_PTRACE)". Empty if it has them all or is not root.
std::string missing_rights(std::initializer_list<std::string_view> names);

}  // namespace hone
