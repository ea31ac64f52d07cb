// Shared by tests on the emulated driver: a context, a program, device memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "emulator/cuda_calls.hpp"
#include "emulator/nvrtc_calls.hpp"

namespace hone {

inline std::string error_name(CUresult code) {
  const char* name = nullptr;
  return cuGetErrorName(code, &name) == CUDA_SUCCESS ? name : std::to_string(code);
}

#define HONE_CU(call) ASSERT_EQ(error_name(call), "CUDA_SUCCESS") << #call

constexpr std::size_t kUnit = 2 << 20;

/// What NVRTC makes of a source.
struct Built {
  nvrtcResult result = NVRTC_ERROR_INTERNAL_ERROR;
  std::string log;
  std::vector<char> cubin;
  std::vector<std::string> lowered;  ///< of the expressions
};

inline Built build(const char* source, const std::vector<std::string>& expressions = {},
                   std::vector<const char*> options = {"--gpu-architecture=sm_90"},
                   const char* name = "kernel.cu",
                   const std::vector<std::pair<const char*, const char*>>& headers = {}) {
  Built built;
  nvrtcProgram program = nullptr;
  std::vector<const char*> names, texts;
  for (const auto& [header, text] : headers) {
    names.push_back(header);
    texts.push_back(text);
  }
  built.result = nvrtcCreateProgram(&program, source, name, static_cast<int>(names.size()),
                                    texts.data(), names.data());
  if (built.result != NVRTC_SUCCESS) return built;
  for (const std::string& one : expressions) nvrtcAddNameExpression(program, one.c_str());
  built.result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  built.log.resize(size);
  nvrtcGetProgramLog(program, built.log.data());
  built.log.resize(std::strlen(built.log.c_str()));
  if (built.result == NVRTC_SUCCESS) {
    nvrtcGetCUBINSize(program, &size);
    built.cubin.resize(size);
    nvrtcGetCUBIN(program, built.cubin.data());
    for (const std::string& one : expressions) {
      const char* lowered = nullptr;
      nvrtcGetLoweredName(program, one.c_str(), &lowered);
      built.lowered.emplace_back(lowered != nullptr ? lowered : "");
    }
  }
  nvrtcDestroyProgram(&program);
  return built;
}

/// Some units of device memory, mapped for reading and writing.
struct DeviceMemory {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr at = 0;
  std::size_t bytes = 0;

  CUresult map(CUmemGenericAllocationHandle from, std::size_t size) {
    handle = from;
    bytes = size;
    CUresult result = cuMemAddressReserve(&at, bytes, 0, 0, 0);
    if (result == CUDA_SUCCESS) result = cuMemMap(at, bytes, 0, handle, 0);
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (result == CUDA_SUCCESS) result = cuMemSetAccess(at, bytes, &access, 1);
    return result;
  }
  CUresult make(std::size_t size = kUnit) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle made = 0;
    const CUresult result = cuMemCreate(&made, size, &prop, 0);
    return result == CUDA_SUCCESS ? map(made, size) : result;
  }
};

inline CUlaunchConfig shape(unsigned grid, unsigned block, unsigned shared = 0) {
  CUlaunchConfig config{};
  config.gridDimX = grid;
  config.blockDimX = block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared;
  return config;
}

template <class... A>
CUresult launch(CUfunction function, CUlaunchConfig config, A... values) {
  void* arguments[] = {&values..., nullptr};
  return cuLaunchKernelEx(&config, function, arguments, nullptr);
}

}  // namespace hone
