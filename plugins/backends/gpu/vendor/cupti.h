// Declarations of CUPTI, NVIDIA's library that reads hardware counters: the constants and the parameters of functions
// that the cuda backend uses. With them, hone builds without a toolkit. tests/gpu/cupti_header_test.cpp compares
// layouts with an installed toolkit. Each parameter's `size` lets CUPTI tell versions of a structure apart; `reserved` is
// NULL.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone_gpu::cupti {

constexpr int kSuccess = 0;
constexpr int kNoPermission = 35;         // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
constexpr int kNoPermissionVirtual = 40;  // the same on a virtual device
constexpr int kRangeProfiler = 0;         // CUPTI_PROFILER_TYPE_RANGE_PROFILER
constexpr int kRangeForEachLaunch = 1;    // CUPTI_AutoRange
constexpr int kCallerRepeats = 3;         // CUPTI_UserReplay

/// The functions that hone calls. CUPTI has all of them from version 12.6 on.
constexpr const char* kFunctions[] = {
    "cuptiDeviceGetChipName",
    "cuptiProfilerHostConfigAddMetrics",
    "cuptiProfilerHostDeinitialize",
    "cuptiProfilerHostEvaluateToGpuValues",
    "cuptiProfilerHostGetConfigImage",
    "cuptiProfilerHostGetConfigImageSize",
    "cuptiProfilerHostInitialize",
    "cuptiProfilerInitialize",
    "cuptiRangeProfilerCounterDataImageInitialize",
    "cuptiRangeProfilerDecodeData",
    "cuptiRangeProfilerDisable",
    "cuptiRangeProfilerEnable",
    "cuptiRangeProfilerGetCounterDataInfo",
    "cuptiRangeProfilerGetCounterDataSize",
    "cuptiRangeProfilerSetConfig",
    "cuptiRangeProfilerStart",
    "cuptiRangeProfilerStop",
};

struct Initialize {
  std::size_t size;
  void* reserved;
};

struct ChipName {
  std::size_t size;
  void* reserved;
  std::size_t device;
  const char* name;  // out
};

struct HostInitialize {
  std::size_t size;
  void* reserved;
  int profiler;
  const char* chip;
  const std::uint8_t* availability;  // NULL: CUPTI knows the chip
  void* host;                        // out
};

struct HostEnd {
  std::size_t size;
  void* reserved;
  void* host;
};

struct AddMetrics {
  std::size_t size;
  void* reserved;
  void* host;
  const char** names;
  std::size_t count;
};

struct ConfigSize {
  std::size_t size;
  void* reserved;
  void* host;
  std::size_t config_size;  // out
};

struct ConfigImage {
  std::size_t size;
  void* reserved;
  void* host;
  std::size_t config_size;
  std::uint8_t* config;
};

struct Enable {
  std::size_t size;
  void* reserved;
  void* context;
  void* profiler;  // out
};

/// Of Disable, Start and Decode, whose further members are results that hone does not need.
struct Profiler {
  std::size_t size;
  void* reserved;
  void* profiler;
};

struct Decode {
  std::size_t size;
  void* reserved;
  void* profiler;
  std::size_t dropped;  // out: ranges
};

struct Stop {
  std::size_t size;
  void* reserved;
  void* profiler;
  std::size_t pass;      // out
  std::size_t level;     // out
  std::uint8_t is_last;  // out: every pass was made
};

struct DataSize {
  std::size_t size;
  void* reserved;
  void* profiler;
  const char** names;
  std::size_t count;
  std::size_t ranges_max;
  std::uint32_t nodes_max;
  std::size_t data_size;  // out
};

struct DataInitialize {
  std::size_t size;
  void* reserved;
  void* profiler;
  std::size_t data_size;
  std::uint8_t* data;
};

struct SetConfig {
  std::size_t size;
  void* reserved;
  void* profiler;
  std::size_t config_size;
  const std::uint8_t* config;
  std::size_t data_size;
  std::uint8_t* data;
  int range;
  int replay;
  std::size_t ranges_max;  // in each pass
  std::uint16_t levels;
  std::uint16_t level_min;
  std::size_t pass;
  std::uint16_t target_level;
};

struct DataInfo {
  std::size_t size;
  void* reserved;
  const std::uint8_t* data;
  std::size_t data_size;
  std::size_t ranges;  // out
};

struct Evaluate {
  std::size_t size;
  void* reserved;
  void* host;
  const std::uint8_t* data;
  std::size_t data_size;
  std::size_t range;
  const char** names;
  std::size_t count;
  double* values;
};

}  // namespace hone_gpu::cupti
