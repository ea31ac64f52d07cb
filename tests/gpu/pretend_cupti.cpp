// Stands in for CUPTI where there is no device. Its counters are numbers of its own: metric number M of launch number L is
// 1000 L + M. It needs two passes. With a file "refuses" in its folder it says that the driver lets only administrators read
// counters; with "forgets" it does not know the metric of the time; with "unknown_chip" it does not know the device. With
// HONE_PRETEND_OLD, it lacks functions, like CUPTI before 12.6.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "vendor/cupti.h"

namespace {

using namespace hone_gpu::cupti;

constexpr int kInvalidParameter = 1;
[[maybe_unused]] int passes = 0;
[[maybe_unused]] std::size_t ranges = 0;
char object = 0;

[[maybe_unused]] bool is_told(const char* what) {
  Dl_info info{};
  if (dladdr(&object, &info) == 0) return false;
  std::string path = info.dli_fname;
  path.resize(path.rfind('/') + 1);
  return access((path + what).c_str(), R_OK) == 0;
}

}  // namespace

#define PRETEND(name, Parameters) \
  extern "C" __attribute__((visibility("default"))) int name(Parameters* p)

PRETEND(cuptiProfilerInitialize, Initialize) { return p->size < 16 ? kInvalidParameter : kSuccess; }
PRETEND(cuptiDeviceGetChipName, ChipName) {
  p->name = "emulated";
  return is_told("unknown_chip") ? kInvalidParameter : kSuccess;
}
#ifndef HONE_PRETEND_OLD
PRETEND(cuptiProfilerHostInitialize, HostInitialize) {
  p->host = &object;
  return kSuccess;
}
PRETEND(cuptiProfilerHostDeinitialize, HostEnd) {
  return p->host == &object ? kSuccess : kInvalidParameter;
}
PRETEND(cuptiProfilerHostConfigAddMetrics, AddMetrics) {
  for (std::size_t i = 0; i < p->count; ++i) {
    if (is_told("forgets") && std::strcmp(p->names[i], "gpu__time_duration.sum") == 0)
      return kInvalidParameter;
  }
  return kSuccess;
}
PRETEND(cuptiProfilerHostGetConfigImageSize, ConfigSize) {
  p->config_size = 8;
  return kSuccess;
}
PRETEND(cuptiProfilerHostGetConfigImage, ConfigImage) {
  std::memset(p->config, 1, p->config_size);
  return kSuccess;
}
PRETEND(cuptiRangeProfilerEnable, Enable) {
  p->profiler = &object;
  passes = 0;
  return is_told("refuses") ? kNoPermission : kSuccess;
}
PRETEND(cuptiRangeProfilerDisable, Profiler) {
  return p->profiler == &object ? kSuccess : kInvalidParameter;
}
PRETEND(cuptiRangeProfilerGetCounterDataSize, DataSize) {
  p->data_size = 8 * p->ranges_max;
  return kSuccess;
}
PRETEND(cuptiRangeProfilerCounterDataImageInitialize, DataInitialize) {
  std::memset(p->data, 0, p->data_size);
  return kSuccess;
}
PRETEND(cuptiRangeProfilerSetConfig, SetConfig) {
  ranges = p->ranges_max;
  if (passes == 2) passes = 0;  // as on an H200: a count that is not over goes on
  return p->range == kRangeForEachLaunch && p->replay == kCallerRepeats ? kSuccess
                                                                        : kInvalidParameter;
}
PRETEND(cuptiRangeProfilerStart, Profiler) {
  return p->profiler == &object ? kSuccess : kInvalidParameter;
}
PRETEND(cuptiRangeProfilerStop, Stop) {
  p->is_last = ++passes == 2;
  return kSuccess;
}
PRETEND(cuptiRangeProfilerDecodeData, Decode) {
  p->dropped = 0;
  return kSuccess;
}
PRETEND(cuptiRangeProfilerGetCounterDataInfo, DataInfo) {
  p->ranges = ranges;
  return kSuccess;
}
PRETEND(cuptiProfilerHostEvaluateToGpuValues, Evaluate) {
  for (std::size_t i = 0; i < p->count; ++i)
    p->values[i] = 1000.0 * static_cast<double>(p->range) + static_cast<double>(i);
  return kSuccess;
}
#endif
