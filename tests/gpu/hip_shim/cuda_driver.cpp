// Loads the CUDA driver.
#include "cuda.hpp"
#include "library.hpp"

#ifdef HONE_SHIM_EMULATED
#define HONE_SHIM_DRIVER "libhone_emulated_cuda.so"
#else
#define HONE_SHIM_DRIVER "libcuda.so.1"
#endif

namespace hone_shim {

const CudaDriver& cuda() {
  static const CudaDriver loaded = [] {
    CudaDriver all;
    void* library = open_library({HONE_SHIM_DRIVER});
    if (library == nullptr) all.missing = HONE_SHIM_DRIVER;
#define HONE_SHIM_LOOK_UP(name) look_up(library, #name, all.name, all.missing);
    HONE_SHIM_DRIVER_FUNCTIONS(HONE_SHIM_LOOK_UP)
#undef HONE_SHIM_LOOK_UP
    return all;
  }();
  return loaded;
}

}  // namespace hone_shim
