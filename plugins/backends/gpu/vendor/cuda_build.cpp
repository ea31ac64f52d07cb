// Building CUDA C++: NVRTC, always.
#include <algorithm>
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

/// Removes the lines of ptxas about registers and memory, and returns them.
static std::string take_ptxas_lines(std::string& words) {
  std::string taken, rest;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('\n', at), words.size() - 1) + 1;
    const std::string line = words.substr(at, end - at);
    const bool is_info = line.find("ptxas info") != std::string::npos ||
                         line.find("bytes stack frame") != std::string::npos;
    (is_info ? taken : rest) += line;
    at = end;
  }
  words = rest;
  return taken;
}

std::vector<std::string> report_flags() { return {"-lineinfo", "--ptxas-options=-v"}; }

hone::plugin::Value code_report(const Compiler& compiler, gpuProgram program, std::string& words) {
  constexpr std::size_t kPtxMax = std::size_t{2} << 20;
  std::size_t size = 0;
  std::string ptx;
  if (compiler.ownGetPtx != nullptr && compiler.ownGetPtxSize != nullptr &&
      compiler.ownGetPtxSize(program, &size) == 0 && size > 1 && size <= kPtxMax) {
    ptx.resize(size);
    if (compiler.ownGetPtx(program, ptx.data()) != 0) ptx.clear();
    while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  }
  return hone::plugin::Value::map({{"assembly", ptx}, {"remarks", take_ptxas_lines(words)}});
}

Compiled compile(const BuildRequest& request) { return compile_with_runtime(request); }

}  // namespace hone_gpu
