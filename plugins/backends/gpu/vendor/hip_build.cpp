// Building HIP: by hiprtc, or by a clang++ where the request names one.
#include <algorithm>
#include <iterator>

#include "vendor/hip_clang.hpp"
#include "vendor_build.hpp"

namespace hone_gpu {
namespace {

/// What hiprtc of ROCm 5 builds for. Rationale: asked for any other it corrupts its heap and dies.
constexpr const char* kKnownToOld[] = {"gfx908", "gfx90a"};
/// What it says of its version: ROCm 5's does not count with the release.
constexpr int kOldMajor = 9;

bool is_clang(const std::string& compiler) {
  return compiler.substr(compiler.rfind('/') + 1).rfind("clang", 0) == 0;
}

}  // namespace

const char* default_architecture() { return "gfx90a"; }

std::string architecture_trouble(const std::string& architecture, int major, int) {
  const bool formed = architecture.size() > 5 && architecture.rfind("gfx", 0) == 0 &&
                      architecture.find_first_not_of("0123456789abcdef", 3) == std::string::npos;
  if (!formed) return "architecture '" + architecture + "', expected one like 'gfx942'";
  const bool old = major < 6 || major == kOldMajor;
  if (old && std::find(std::begin(kKnownToOld), std::end(kKnownToOld), architecture) ==
                 std::end(kKnownToOld)) {
    return "architecture '" + architecture +
           "', expected 'gfx908' or 'gfx90a': this version of hiprtc crashes for others; set the "
           "compiler to a clang++, or install ROCm 6";
  }
  return {};
}

std::vector<std::string> runtime_flags(const std::string& architecture) {
  // hipcc says which platform it is; hiprtc leaves it to its caller.
  return {"--offload-arch=" + architecture, "-std=c++17", "-O3", "-D__HIP_PLATFORM_AMD__=1"};
}

std::string runtime_companion(int, int) { return {}; }

std::vector<std::string> report_flags() { return {}; }

hone::plugin::Value code_report(const Compiler&, gpuProgram, std::string&) { return {}; }

Compiled compile(const BuildRequest& request) {
  return is_clang(request.compiler) ? compile_with_clang(request) : compile_with_runtime(request);
}

}  // namespace hone_gpu
