#include "libraries.hpp"

#include "vendor.h"

namespace hone_gpu {

const char* const kDriverLibrary = HONE_GPU_DRIVER_LIBRARY;
const char* const kCompilerLibrary = HONE_GPU_COMPILER_LIBRARY;
const char* const kManagementLibrary = HONE_GPU_MANAGEMENT_LIBRARY;

}  // namespace hone_gpu
