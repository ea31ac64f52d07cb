// Linux capabilities that the sandbox needs when hone runs as root. A container may lack some.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace hone {

/// Lists the capabilities of `names` ("SYS_PTRACE", …) that this process lacks: " (CAP_SYS_PTRACE is missing; in Docker: --cap-add SYS_PTRACE)". Empty if it has all of them or is not root.
std::string missing_capabilities(std::initializer_list<std::string_view> names);

}  // namespace hone
