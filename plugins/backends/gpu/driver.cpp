// Finds the vendor's libraries and looks their functions up.
#include "driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "errors.hpp"
#include "hone/plugin/failure.hpp"
#include "libraries.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;

struct Library {
  void* handle = nullptr;
  std::string tried;  ///< why not, where handle is null
};

/// What the loader says, without the path of what it looked for.
std::string loader_words() {
  const char* words = dlerror();
  return words != nullptr ? words : "no reason given";
}

/// "a:b" as {"a", "b"}.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The first of the names that can be loaded, where the system looks or in one of the folders.
Library open_library(const std::vector<std::string>& names,
                     const std::vector<std::string>& folders) {
  Library library;
  for (const std::string& name : names) {
    library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle != nullptr) return library;
    library.tried += (library.tried.empty() ? "" : "; ") + loader_words();
    if (name.find('/') != std::string::npos) continue;
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored)) continue;
      library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library.handle != nullptr) return library;
      library.tried += "; " + loader_words();
    }
  }
  return library;
}

template <typename Function>
void look_up(void* library, const char* symbol, Function& function, bool optional) {
  void* address = dlsym(library, symbol);
  if (address == nullptr && !optional) {
    fail(HONE_UNAVAILABLE, std::string(kVendor) + "'s library is too old: it has no " + symbol);
  }
  std::memcpy(&function, &address, sizeof address);
}

std::string folder_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return ".";
  std::error_code ignored;
  const auto path = std::filesystem::weakly_canonical(info.dli_fname, ignored);
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

Driver load_driver() {
  // Rationale: a kernel that is loaded at its first launch would be loaded under the judge's clock,
  // and in a process that may open no file.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_CACHE_DISABLE", "1", 0);
  // Hardware queues: one stream needs one, and each takes a context 10 ms to make and 5 to end.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
  setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "1", 0);
  const Library library = open_library(split(kDriverLibrary), library_folders());
  if (library.handle == nullptr) {
    fail(HONE_UNAVAILABLE, std::string("no ") + kVendor + " driver: " + library.tried);
  }
  Driver loaded;
#define HONE_GPU_LOOK_UP(alias, symbol, type) look_up(library.handle, #symbol, loaded.alias, false);
#define HONE_GPU_LOOK_UP_OPTIONAL(alias, symbol, type) \
  look_up(library.handle, #symbol, loaded.alias, true);
  HONE_GPU_DRIVER_FUNCTIONS(HONE_GPU_LOOK_UP)
  HONE_GPU_OWN_FUNCTIONS(HONE_GPU_LOOK_UP)
  HONE_GPU_GRAPH_FUNCTIONS(HONE_GPU_LOOK_UP_OPTIONAL)
  HONE_GPU_OPTIONAL_FUNCTIONS(HONE_GPU_LOOK_UP_OPTIONAL)
#undef HONE_GPU_LOOK_UP_OPTIONAL
  check(loaded, loaded.gpuInit(0), "start the driver");
  check(loaded, loaded.gpuDriverGetVersion(&loaded.version), "driver version");
  check(loaded, loaded.gpuDeviceGetCount(&loaded.device_count), "count devices");
  if (loaded.version < kDriverMin) {
    fail(HONE_UNAVAILABLE, std::string(kVendor) + "'s driver is of version " +
                               std::to_string(loaded.version) + ", expected at least " +
                               std::to_string(kDriverMin));
  }
  if (loaded.device_count < 1) fail(HONE_UNAVAILABLE, "the driver sees no device");
  return loaded;
}

}  // namespace

void* find_library(const std::string& names) {
  return open_library(split(names), library_folders()).handle;
}

std::vector<std::string> toolkits() {
  std::vector<std::string> found;
  const std::string root = kToolkitFolder, prefix = kToolkitPrefix;
  std::error_code error;
  for (std::filesystem::directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().rfind(prefix, 0) == 0) found.push_back(at->path().string());
  }
  // By length first: cuda-9.0 is older than cuda-12.1, and plain cuda is the machine's own choice.
  std::sort(found.begin(), found.end(), [&](const std::string& a, const std::string& b) {
    const auto plain = [&](const std::string& path) { return path == root + "/" + prefix; };
    if (plain(a) != plain(b)) return plain(a);
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return found;
}

std::vector<std::string> library_folders() {
  const std::string here = folder_of(reinterpret_cast<void*>(&library_folders));
  std::vector<std::string> folders{here, here + "/../lib", here + "/../../lib"};
  for (const std::string& toolkit : toolkits()) {
    folders.push_back(toolkit + "/lib64");
    folders.push_back(toolkit + "/lib");
    folders.push_back(toolkit + "/targets/x86_64-linux/lib");
  }
  return folders;
}

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}

Compiler load_compiler(const std::string& path) {
  const Library library = path.empty() ? open_library(split(kCompilerLibrary), library_folders())
                                       : open_library({path}, library_folders());
  if (library.handle == nullptr) {
    fail(HONE_UNAVAILABLE, std::string("no ") + kCompilerName + ": " + library.tried);
  }
  Compiler loaded;
  HONE_GPU_COMPILER_FUNCTIONS(HONE_GPU_LOOK_UP)
#define HONE_GPU_LOOK_UP_OPTIONAL(alias, symbol, type) \
  look_up(library.handle, #symbol, loaded.alias, true);
  HONE_GPU_OWN_COMPILER_FUNCTIONS(HONE_GPU_LOOK_UP_OPTIONAL)
#undef HONE_GPU_LOOK_UP_OPTIONAL
  loaded.folder = folder_of(reinterpret_cast<void*>(loaded.gpuCompilerVersion));
  if (loaded.gpuCompilerVersion(&loaded.major, &loaded.minor) != 0) {
    fail(HONE_UNAVAILABLE, std::string(kCompilerName) + " does not tell its version");
  }
  return loaded;
}

#undef HONE_GPU_LOOK_UP

}  // namespace hone_gpu
