// What a vendor's builds have of their own: vendor/cuda_build.cpp and vendor/hip_build.cpp.
#pragma once

#include <string>
#include <vector>

#include "build.hpp"
#include "driver.hpp"

namespace hone_gpu {

/// What is built for where a request does not say.
const char* default_architecture();

/// Why this compiler cannot build for the architecture; "" when it can.
std::string architecture_trouble(const std::string& architecture, int major, int minor);

/// The runtime compiler's words for: this architecture, C++17, everything for the device.
std::vector<std::string> runtime_flags(const std::string& architecture);

/// Further flags of the runtime compiler for a build whose report is wanted, and the report. What `words` says about
/// registers moves from there to the report.
std::vector<std::string> report_flags();
hone::plugin::Value code_report(const Compiler& compiler, gpuProgram program, std::string& words);

/// A second library that the runtime compiler needs and may not find; "" for none.
std::string runtime_companion(int major, int minor);

/// Chooses the compiler of a request and runs it.
Compiled compile(const BuildRequest& request);

}  // namespace hone_gpu
