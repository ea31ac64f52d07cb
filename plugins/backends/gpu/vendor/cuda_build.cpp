// Building CUDA C++: NVRTC, always.
#include <string>

#include "vendor_build.hpp"

namespace hone_gpu {

const char* default_architecture() { return "sm_90a"; }

std::string architecture_trouble(const std::string& architecture, int, int) {
  // NVRTC rejects unknown architectures with a clear message.
  return architecture.rfind("sm_", 0) == 0
             ? ""
             : "architecture '" + architecture + "', expected one like 'sm_90a'";
}

std::vector<std::string> runtime_flags(const std::string& architecture) {
  return {"--gpu-architecture=" + architecture, "--std=c++17", "-default-device"};
}

std::string runtime_companion(int major, int minor) {
  return "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
}

Compiled compile(const BuildRequest& request) { return compile_with_runtime(request); }

}  // namespace hone_gpu
