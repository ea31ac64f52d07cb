// hiprtc on top of NVRTC. A few definitions before the source are sufficient, because HIP's device code differs
// little from CUDA's.
#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cuda.hpp"
#include "hip_calls.hpp"
#include "hip_device_text.hpp"

namespace hone_shim {
namespace {

/// What hiprtc of the ROCm that the runtime's shim claims to be says of itself.
constexpr int kMajor = 6;
constexpr int kMinor = 4;
/// For all that HIP calls gfx…: what the devices under the shim run.
constexpr const char* kArchitecture = "--gpu-architecture=sm_90";

constexpr const char* kHalves = "#include <cuda_fp16.h>\n";
constexpr const char* kBfloats =
    "#pragma once\n#include <cuda_bf16.h>\ntypedef __nv_bfloat16 __hip_bfloat16;\n"
    "typedef __nv_bfloat162 __hip_bfloat162;\n";

/// The folder of the CUDA toolkit's headers; empty where there is none, or none is needed.
std::string toolkit_headers() {
#ifndef HONE_SHIM_EMULATED
  std::vector<std::string> folders = {"/usr/local/cuda/include"};
  Dl_info info{};
  void* function = nullptr;
  std::memcpy(&function, &nvrtc().nvrtcCompileProgram, sizeof function);
  if (dladdr(function, &info) != 0 && info.dli_fname != nullptr) {
    const std::string beside = std::filesystem::path(info.dli_fname).parent_path().string();
    for (const char* way : {"/../include", "/../../cuda_runtime/include", "/../../include"})
      folders.push_back(beside + way);
  }
  std::error_code ignored;
  for (const std::string& folder : folders) {
    if (std::filesystem::exists(folder + "/cuda_fp16.h", ignored)) return folder;
  }
#endif
  return {};
}

bool has_halves() {
#ifdef HONE_SHIM_EMULATED
  return true;
#else
  return !toolkit_headers().empty();
#endif
}

nvrtcProgram program_of(hiprtcProgram program) { return reinterpret_cast<nvrtcProgram>(program); }

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

/// hiprtc's options as NVRTC has them. False where one is not known.
bool translate(int count, const char* const* options, std::vector<std::string>& out) {
  out.emplace_back(kArchitecture);
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (starts(option, "--offload-arch=") || starts(option, "--gpu-architecture=")) {
      if (!starts(option.substr(option.find('=') + 1), "gfx")) return false;
    } else if (starts(option, "-std=")) {
      out.push_back("-" + option);
    } else if (starts(option, "-D__HIP_PLATFORM_AMD__")) {
      continue;  // here a source must take the headers of the other platform
    } else if (starts(option, "-D") || starts(option, "-U")) {
      out.push_back(option);
    } else if (option == "-ffast-math") {
      out.emplace_back("--use_fast_math");
    } else if (!starts(option, "-O") && !starts(option, "-I") && !starts(option, "-W") &&
               !starts(option, "-f") && !starts(option, "-m")) {
      return false;  // include folders hold HIP's headers, which mean another compiler
    }
  }
  if (const std::string folder = toolkit_headers(); !folder.empty()) out.push_back("-I" + folder);
  return true;
}

}  // namespace
}  // namespace hone_shim

using namespace hone_shim;

// NOLINTBEGIN(readability-identifier-naming): HIP's names.
hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = kMajor;
  *minor = kMinor;
  return NVRTC_SUCCESS;
}

const char* hiprtcGetErrorString(hiprtcResult result) {
  static constexpr const char* kNames[] = {"HIPRTC_SUCCESS",
                                           "HIPRTC_ERROR_OUT_OF_MEMORY",
                                           "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                           "HIPRTC_ERROR_INVALID_INPUT",
                                           "HIPRTC_ERROR_INVALID_PROGRAM",
                                           "HIPRTC_ERROR_INVALID_OPTION",
                                           "HIPRTC_ERROR_COMPILATION",
                                           "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                           "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                           "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                           "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                           "HIPRTC_ERROR_INTERNAL_ERROR"};
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kNames) ? kNames[index] : "Invalid HIPRTC error code";
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* out, const char* source, const char* name,
                                 int count, const char* const* headers,
                                 const char* const* include_names) try {
  if (nvrtc().missing != nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  if (out == nullptr || source == nullptr || count < 0) return NVRTC_ERROR_INVALID_INPUT;
  const std::string called = name != nullptr ? name : "default_program";
  const std::string text = std::string(has_halves() ? kHalves : "") + kHipDeviceText +
                           "#line 1 \"" + called + "\"\n" + source;
  std::vector<const char*> texts(headers, headers + count);
  std::vector<const char*> names(include_names, include_names + count);
  const auto add = [&](const char* which, const char* what) {
    for (const char* given : names) {
      if (std::strcmp(given, which) == 0) return;
    }
    names.push_back(which);
    texts.push_back(what);
  };
  add("hip/hip_runtime.h", "#pragma once\n");
  add("hip/hip_fp16.h", "#pragma once\n");
  if (has_halves()) add("hip/hip_bf16.h", kBfloats);
  return nvrtc().nvrtcCreateProgram(reinterpret_cast<nvrtcProgram*>(out), text.c_str(),
                                    called.c_str(), static_cast<int>(names.size()), texts.data(),
                                    names.data());
} catch (const std::bad_alloc&) {
  return NVRTC_ERROR_OUT_OF_MEMORY;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  return nvrtc().nvrtcDestroyProgram(reinterpret_cast<nvrtcProgram*>(program));
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* expression) {
  return nvrtc().nvrtcAddNameExpression(program_of(program), expression);
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count,
                                  const char* const* options) try {
  std::vector<std::string> translated;
  if (!translate(count, options, translated)) return NVRTC_ERROR_INVALID_OPTION;
  std::vector<const char*> words;
  for (const std::string& word : translated) words.push_back(word.c_str());
  return nvrtc().nvrtcCompileProgram(program_of(program), static_cast<int>(words.size()),
                                     words.data());
} catch (const std::bad_alloc&) {
  return NVRTC_ERROR_OUT_OF_MEMORY;
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, std::size_t* size) {
  return nvrtc().nvrtcGetProgramLogSize(program_of(program), size);
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  return nvrtc().nvrtcGetProgramLog(program_of(program), log);
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, std::size_t* size) {
  return nvrtc().nvrtcGetCUBINSize(program_of(program), size);
}

hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  return nvrtc().nvrtcGetCUBIN(program_of(program), code);
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* expression,
                                  const char** lowered) {
  return nvrtc().nvrtcGetLoweredName(program_of(program), expression, lowered);
}
// NOLINTEND(readability-identifier-naming)
