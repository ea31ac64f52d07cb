// NVIDIA's management library, reduced to clocks and throttling: the device is always hot, or only for the first
// HONE_HOT_ASKS queries of a process.
#include <atomic>

#define HONE_EMULATED_API extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(readability-identifier-naming): the library's names.
HONE_EMULATED_API int nvmlInit_v2() { return 0; }

HONE_EMULATED_API int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  static char one;
  *device = &one;
  return 0;
}

HONE_EMULATED_API int nvmlDeviceGetCurrentClocksThrottleReasons(void*,
                                                                unsigned long long* reasons) {
  constexpr unsigned long long kIdle = 0x01, kHeat = 0x40;
#if defined(HONE_HOT_ASKS)
  static std::atomic<int> left{HONE_HOT_ASKS};
  *reasons = left.fetch_sub(1) > 0 ? kHeat : kIdle;
#else
  *reasons = kIdle | kHeat;
#endif
  return 0;
}

HONE_EMULATED_API int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1200 : 3201;
  return 0;
}
// NOLINTEND(readability-identifier-naming)
