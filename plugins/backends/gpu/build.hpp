// Builds a source of device code into an image for one architecture, in the current folder, with no
// device and no driver.
#pragma once

#include <string>
#include <vector>

#include "hone/plugin.hpp"

namespace hone_gpu {

/// A build's request, read.
struct BuildRequest {
  std::string name;  ///< of the source
  std::string text;
  std::vector<std::string> entries;
  std::string compiler;      ///< "", or a path: of the runtime compiler's library, or of clang++
  std::string architecture;  ///< "sm_90a", "gfx942"
  std::vector<std::string> include;
  std::vector<std::string> flags;
  double seconds_max = 0;
  bool report = false;  ///< the report "code" is wanted, too
};

/// What a compiler made of it.
struct Compiled {
  std::string failure;  ///< "" for success; "refused", "timed_out", "killed", "out_of_memory"
  std::string words;
  std::string image;
  hone::plugin::Value entries = hone::plugin::Value::map();  ///< entry → its name in the image
  std::string toolchain;
  hone::plugin::Value report{};  ///< "code" of backend.h, where it was wanted; else nil
};

/// The request and the result of hone_backend_factory::build. Options, all of which may be missing:
/// {"compiler": str, "architecture": str, "include": str or [str], "flags": [str], "seconds": float}. A result
/// says besides what backend.h asks for: "toolchain": "NVRTC 13.0". The artifact is the MessagePack map
/// {"image": bin, "entries": {entry: name in the image}, "architecture": str}.
hone::plugin::Value build(const hone::plugin::Value& request);

/// By the runtime compiler, in a forked process.
Compiled compile_with_runtime(const BuildRequest& request);

/// Folders of the vendor's headers: those of the request, else the first near `compiler_folder` or in a toolkit of this machine. If there are none, a source cannot include headers.
std::vector<std::string> include_folders(const BuildRequest& request,
                                         const std::string& compiler_folder);

}  // namespace hone_gpu
