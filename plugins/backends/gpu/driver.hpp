// The vendor's driver and runtime compiler, loaded when they are first needed: one build of hone
// runs on machines with neither.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "vendor.h"

namespace hone_gpu {

#define HONE_GPU_MEMBER(alias, symbol, type) std::add_pointer_t<type> alias = nullptr;

/// The functions of the driver's library. Lives as long as the process, which never unloads it.
///
///   const Driver& gpu = driver();
///   check(gpu, gpu.gpuStreamSynchronize(stream), "wait");
struct Driver {
  HONE_GPU_DRIVER_FUNCTIONS(HONE_GPU_MEMBER)
  HONE_GPU_OWN_FUNCTIONS(HONE_GPU_MEMBER)
  HONE_GPU_GRAPH_FUNCTIONS(HONE_GPU_MEMBER)
  HONE_GPU_OPTIONAL_FUNCTIONS(HONE_GPU_MEMBER)
  int version = 0;       ///< as the driver counts: 13000, or 60342134
  std::string path;      ///< what was loaded
  int device_count = 0;  ///< at the start
};

/// Loads and starts the driver once. A Failure with HONE_UNAVAILABLE says why there is none. [any]
const Driver& driver();

struct Compiler {
  HONE_GPU_COMPILER_FUNCTIONS(HONE_GPU_MEMBER)
  HONE_GPU_OWN_COMPILER_FUNCTIONS(HONE_GPU_MEMBER)
  int major = 0;
  int minor = 0;
  std::string folder;  ///< where the library lies, with no / at its end
};

/// Loads the runtime compiler: `path` where that says one (a file, or a name to look up), else from
/// the usual places. A Failure with HONE_UNAVAILABLE says what was tried. [any]
Compiler load_compiler(const std::string& path);

#undef HONE_GPU_MEMBER

/// Folders of the vendor's libraries in addition to the system's: the folder of this plugin, lib/ of the bundle, then the toolkits of this machine, newest first.
std::vector<std::string> library_folders();
/// The first of these ("a:b") that is in one of them, or where the system looks; nullptr without one.
void* find_library(const std::string& names);
/// The vendor's toolkits of this machine ("/usr/local/cuda"), newest first.
std::vector<std::string> toolkits();

}  // namespace hone_gpu
