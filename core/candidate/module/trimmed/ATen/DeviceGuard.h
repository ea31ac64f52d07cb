// In the place of torch's, which each operator's header includes and few sources need.
#pragma once

#ifdef HONE_DEVICE_OF
#include_next <ATen/DeviceGuard.h>
#else
#include <c10/core/DeviceGuard.h>
#endif
