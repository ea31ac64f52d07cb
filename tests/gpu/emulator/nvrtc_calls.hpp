// The entry points of NVRTC that hone uses, as the emulator exports them and as libnvrtc does.
#pragma once

#include <cstddef>

#include "nvrtc_abi.hpp"

#ifndef HONE_EMULATED_API
#define HONE_EMULATED_API extern "C" __attribute__((visibility("default")))
#endif

// NOLINTBEGIN(readability-identifier-naming): NVRTC's names.
HONE_EMULATED_API nvrtcResult nvrtcVersion(int* major, int* minor);
HONE_EMULATED_API const char* nvrtcGetErrorString(nvrtcResult result);
HONE_EMULATED_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source,
                                                 const char* name, int count,
                                                 const char* const* headers,
                                                 const char* const* include_names);
HONE_EMULATED_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* handle);
HONE_EMULATED_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char* expression);
HONE_EMULATED_API nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count,
                                                  const char* const* options);
HONE_EMULATED_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram handle, std::size_t* size);
HONE_EMULATED_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram handle, char* log);
HONE_EMULATED_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram handle, std::size_t* size);
HONE_EMULATED_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char* cubin);
HONE_EMULATED_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char* expression,
                                                  const char** lowered);
// NOLINTEND(readability-identifier-naming)
