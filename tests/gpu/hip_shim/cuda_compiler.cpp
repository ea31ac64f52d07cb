// Loads NVRTC.
#include "cuda.hpp"
#include "library.hpp"

namespace hone_shim {

const CudaCompiler& nvrtc() {
  static const CudaCompiler loaded = [] {
    CudaCompiler all;
#ifdef HONE_SHIM_EMULATED
    void* library = open_library({"libhone_emulated_nvrtc.so"});
#else
    void* library =
        open_library({"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"});
#endif
    if (library == nullptr) all.missing = "libnvrtc";
#define HONE_SHIM_LOOK_UP(name) look_up(library, #name, all.name, all.missing);
    HONE_SHIM_COMPILER_FUNCTIONS(HONE_SHIM_LOOK_UP)
#undef HONE_SHIM_LOOK_UP
    return all;
  }();
  return loaded;
}

}  // namespace hone_shim
