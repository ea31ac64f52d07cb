// In the place of torch's, which each operator's header includes and few sources need.
#pragma once

#ifdef HONE_CONTEXT
#include_next <ATen/Context.h>
#else
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#endif
