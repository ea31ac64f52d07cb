// The Linux capabilities that root's jails need, which a container may have taken away.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace hone {

/// Of these ("SYS_PTRACE", …), those that this process lacks: " (CAP_SYS_PTRACE is missing; in Docker:
/// --cap-add SYS_PTRACE)". Empty where it has them all, and where it is not root.
std::string missing_rights(std::initializer_list<std::string_view> names);

}  // namespace hone
