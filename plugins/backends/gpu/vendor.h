// The vendor that this plugin is compiled for: one source, two plugins.
#pragma once

#if defined(HONE_GPU_HIP)
#include "vendor/hip.h"
#else
#include "vendor/cuda.h"
#endif
