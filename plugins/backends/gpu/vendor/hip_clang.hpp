// Builds HIP by a clang++ of the machine, for architectures that the installed hiprtc does not know.
#pragma once

#include "build.hpp"

namespace hone_gpu {

/// `request.compiler` is the path of a clang++ (with its lld). Needs HIP's headers and AMD's device
/// libraries: Debian's libamdhip64-dev and rocm-device-libs, or a ROCm in /opt.
Compiled compile_with_clang(const BuildRequest& request);

/// "9402" of "gfx942", as the device libraries count; "" where that is no such name.
std::string isa_version(const std::string& architecture);

}  // namespace hone_gpu
