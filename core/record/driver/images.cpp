// Images: loading them, and look-up of their kernels and variables.
#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <string>

#include "record/driver/api.hpp"
#include "record/images/fatbin.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

/// The file name of the loaded library that contains `image`; empty if none does.
std::string library_of(const void* image) {
  Dl_info info{};
  if (dladdr(image, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

constexpr const char* kNeedsCompiler = "needs a just-in-time compiler";

int load(void** handle, const void* image) {
  return guarded([&](Recording& r) -> int {
    FoundImage found = find_image(image, r.device.architecture_number());
    switch (found.found) {
      case ImageFound::kCubin:
        break;
      case ImageFound::kNone:
        return kNoBinaryForDevice;
      case ImageFound::kMalformed:
        return kInvalidImage;
      case ImageFound::kNeedsCompiler:
        r.fail(kNeedsCompiler);
        return kNotSupported;
      case ImageFound::kNoDecompressor:
        r.fail("an image is compressed with zstd, and libzstd.so.1 was not found");
        return kNotSupported;
    }
    auto cubin = read_cubin(found.cubin);
    if (!cubin) return kInvalidImage;
    *handle = &r.images.add(std::move(found.cubin), library_of(image), std::move(*cubin));
    return kOk;
  });
}

/// A kernel or a variable of a loaded image.
template <typename Fn>
int with_image(ModuleHandle handle, Fn&& use) {
  return guarded([&](Recording& r) -> int {
    LoadedImage* const image = r.images.image(handle);
    return image == nullptr ? kInvalidHandle : use(r, *image);
  });
}

Status get_global(Recording& r, LoadedImage& image, const char* name, DeviceAddress* address,
                  std::size_t* bytes) {
  const auto variable = image.cubin.variables.find(name);
  if (variable == image.cubin.variables.end()) return kNotFound;
  auto known = image.globals.find(name);
  if (known == image.globals.end()) {
    MemoryState memory;
    memory.kind = hone::recorded::MemoryKind::kGlobal;
    memory.bytes = variable->second.bytes;
    memory.image = image.id;
    memory.name = name;
    memory.is_constant = variable->second.is_constant;
    const auto id = r.memories.add(std::move(memory));
    if (!id) return kOutOfMemory;
    known = image.globals.emplace(name, *id).first;
  }
  if (address != nullptr) *address = r.memories.at(known->second).address;
  if (bytes != nullptr) *bytes = variable->second.bytes;
  return kOk;
}

}  // namespace

HONE_RECORD_API int cuModuleLoadData(ModuleHandle* module, const void* image) {
  return load(module, image);
}
HONE_RECORD_API int cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned, int*,
                                       void**) {
  return load(module, image);
}
HONE_RECORD_API int cuModuleLoadFatBinary(ModuleHandle* module, const void* image) {
  return load(module, image);
}
HONE_RECORD_API int cuModuleLoad(ModuleHandle* module, const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return kFileNotFound;
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  bytes.append(64, '\0');  // so that a header can be read even from a short file
  return load(module, bytes.data());
}
HONE_RECORD_API int cuModuleUnload(ModuleHandle) { return kOk; }
HONE_RECORD_API int cuLibraryLoadData(ModuleHandle* library, const void* image, int*, void**,
                                      unsigned, int*, void**, unsigned) {
  return load(library, image);
}
HONE_RECORD_API int cuLibraryLoadFromFile(ModuleHandle* library, const char* path, int*, void**,
                                          unsigned, int*, void**, unsigned) {
  return cuModuleLoad(library, path);
}
HONE_RECORD_API int cuLibraryUnload(ModuleHandle) { return kOk; }
HONE_RECORD_API int cuLibraryGetModule(ModuleHandle* module, ModuleHandle library) {
  *module = library;
  return kOk;
}

HONE_RECORD_API int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module,
                                        const char* name) {
  return with_image(module, [&](Recording&, LoadedImage& image) {
    const auto found = image.functions.find(name);
    if (found == image.functions.end()) return kNotFound;
    *function = &found->second;
    return kOk;
  });
}
HONE_RECORD_API int cuLibraryGetKernel(FunctionHandle* kernel, ModuleHandle library,
                                       const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
HONE_RECORD_API int cuKernelGetFunction(FunctionHandle* function, FunctionHandle kernel) {
  *function = kernel;
  return kOk;
}
HONE_RECORD_API int cuModuleGetFunctionCount(unsigned* count, ModuleHandle module) {
  return with_image(module, [&](Recording&, LoadedImage& image) {
    *count = static_cast<unsigned>(image.functions.size());
    return kOk;
  });
}
HONE_RECORD_API int cuLibraryGetKernelCount(unsigned* count, ModuleHandle library) {
  return cuModuleGetFunctionCount(count, library);
}
HONE_RECORD_API int cuModuleEnumerateFunctions(FunctionHandle* functions, unsigned count,
                                               ModuleHandle module) {
  return with_image(module, [&](Recording&, LoadedImage& image) {
    unsigned at = 0;
    for (auto& [name, function] : image.functions) {
      if (at < count) functions[at++] = &function;
    }
    return kOk;
  });
}
HONE_RECORD_API int cuLibraryEnumerateKernels(FunctionHandle* kernels, unsigned count,
                                              ModuleHandle library) {
  return cuModuleEnumerateFunctions(kernels, count, library);
}
HONE_RECORD_API int cuModuleGetGlobal_v2(DeviceAddress* address, std::size_t* bytes,
                                         ModuleHandle module, const char* name) {
  return with_image(module, [&](Recording& r, LoadedImage& image) {
    return get_global(r, image, name, address, bytes);
  });
}
HONE_RECORD_API int cuLibraryGetGlobal(DeviceAddress* address, std::size_t* bytes,
                                       ModuleHandle library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}
HONE_RECORD_API int cuLibraryGetManaged(DeviceAddress*, std::size_t*, ModuleHandle, const char*) {
  return kNotFound;
}
