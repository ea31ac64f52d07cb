// Images that a program has loaded, and the kernels that it has asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "record/images/cubin.hpp"
#include "record/plan/memories.hpp"

namespace hone::record {

struct LoadedImage;

/// A kernel of a loaded image. Programs hold its address as their handle.
struct Function {
  LoadedImage* image = nullptr;
  std::string name;
  const CubinKernel* kernel = nullptr;
  std::int32_t shared_bytes_max = -1;  ///< dynamic; -1: never set
  std::int32_t carveout = -1;
  bool nonportable_clusters = false;
};

/// A loaded image. Programs hold its address as their handle of a module or library.
struct LoadedImage {
  std::uint32_t id = 0;
  std::string bytes;
  std::string library;  ///< file name of the library that contains it; empty: none
  Cubin cubin;
  std::map<std::string, Function, std::less<>> functions;
  std::map<std::string, MemoryId, std::less<>> globals;  ///< variables that the host has asked for
};

/// Owns images. It unloads none, because recorded steps refer to them.
class Images {
 public:
  LoadedImage& add(std::string bytes, std::string library, Cubin cubin);
  LoadedImage& at(std::uint32_t id) { return *images_[id]; }
  const LoadedImage& at(std::uint32_t id) const { return *images_[id]; }
  /// nullptr if the handle is unknown.
  LoadedImage* image(const void* handle) const;
  Function* function(const void* handle) const;

 private:
  std::vector<std::unique_ptr<LoadedImage>> images_;
  std::unordered_set<const void*> image_handles_, function_handles_;
};

}  // namespace hone::record
