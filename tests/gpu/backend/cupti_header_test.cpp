// Compiling is the test: declarations in vendor/cupti.h match CUPTI's own headers.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "vendor/cupti.h"

namespace hone_gpu::cupti {
namespace {

// The last member that hone uses is at the same place, and has the same size. So all members before it have theirs.
#define SAME_TO(ours, our_last, theirs, their_last)                         \
  static_assert(offsetof(ours, our_last) == offsetof(theirs, their_last) && \
                sizeof(ours::our_last) == sizeof(theirs::their_last))

SAME_TO(Initialize, reserved, CUpti_Profiler_Initialize_Params, pPriv);
SAME_TO(ChipName, name, CUpti_Device_GetChipName_Params, pChipName);
SAME_TO(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_TO(HostEnd, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_TO(AddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_TO(ConfigSize, config_size, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME_TO(ConfigImage, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_TO(Enable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_TO(Profiler, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_TO(Profiler, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME_TO(Decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME_TO(Stop, is_last, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME_TO(DataSize, data_size, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME_TO(DataInitialize, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME_TO(SetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME_TO(SetConfig, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME_TO(DataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
SAME_TO(Evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

static_assert(kSuccess == CUPTI_SUCCESS);
static_assert(kNoPermission == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(kNoPermissionVirtual == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(kRangeProfiler == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
static_assert(kRangeForEachLaunch == CUPTI_AutoRange);
static_assert(kCallerRepeats == CUPTI_UserReplay);

}  // namespace
}  // namespace hone_gpu::cupti
