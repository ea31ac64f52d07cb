// Modules: a cubin is a shared library made by the emulated NVRTC, loaded from a memory file.
#include "module.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace hone_emulated {
namespace {

/// Where an ELF file ends: its section table stands last.
std::size_t image_bytes(const void* image) {
  Elf64_Ehdr head;
  std::memcpy(&head, image, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  return head.e_shoff + std::size_t{head.e_shentsize} * head.e_shnum;
}

/// A memory file that is kept for when the process can make none, and may hold an old module; else a fresh one.
int module_file(Context& context) {
  if (context.spare_files.empty()) return memfd_create("hone-emulated-module", MFD_CLOEXEC);
  const int spare = context.spare_files.back();
  context.spare_files.pop_back();
  return spare;
}

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// Rationale: the file stays open as long as the library, because the loader takes an equal name for the same library.
CUresult load(const void* image, std::size_t size, Module& module) {
  module.file = module_file(*driver().context);
  if (module.file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  const bool written = lseek(module.file, 0, SEEK_SET) == 0 &&
                       write_all(module.file, static_cast<const char*>(image), size);
  if (written) module.library = dlopen(path_of(module.file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module.library == nullptr) {
    std::fprintf(stderr, "emulated driver: %s\n", written ? dlerror() : "cannot write the module");
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
  }
  module.table =
      static_cast<const hone_emulated_module*>(dlsym(module.library, HONE_EMULATED_ENTRY));
  if (module.table == nullptr || module.table->version != HONE_EMULATED_VERSION)
    return CUDA_ERROR_INVALID_IMAGE;
  *module.table->runtime = &runtime();
  return CUDA_SUCCESS;
}

/// All that are loaded: what else is given as a module is none.
std::vector<std::unique_ptr<Module>>& modules() {
  static std::vector<std::unique_ptr<Module>> all;
  return all;
}

std::vector<std::unique_ptr<Module>>::iterator find_module(CUmodule handle) {
  return std::find_if(modules().begin(), modules().end(), [&](const auto& module) {
    return module.get() == reinterpret_cast<Module*>(handle);
  });
}

/// Keeps the file for another module once nothing of it is mapped.
void unload(Context& context, const Module& module) {
  if (module.library != nullptr) dlclose(module.library);
  if (module.file < 0) return;
  if (void* still = dlopen(path_of(module.file).c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(still);  // something holds it: the number must not be used again
  } else {
    context.spare_files.push_back(module.file);
  }
}

}  // namespace
}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t size = image_bytes(image);
  if (size == 0) return CUDA_ERROR_INVALID_IMAGE;
  auto module = std::make_unique<Module>();
  const CUresult result = load(image, size, *module);
  if (result != CUDA_SUCCESS) {
    unload(*driver().context, *module);
    return result;
  }
  *out = reinterpret_cast<CUmodule>(module.get());
  modules().push_back(std::move(module));
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuModuleUnload(CUmodule handle) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(true); result != CUDA_SUCCESS) return result;
  const auto found = find_module(handle);
  if (found == modules().end()) return CUDA_ERROR_INVALID_HANDLE;
  for (const CUdeviceptr at : (*found)->globals) driver().memory.globals.erase(at);
  unload(*driver().context, **found);
  modules().erase(found);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = find_module(handle);
  if (found == modules().end()) return CUDA_ERROR_INVALID_HANDLE;
  Module* module = found->get();
  for (unsigned i = 0; i < module->table->kernel_count; ++i) {
    const hone_emulated_kernel& kernel = module->table->kernels[i];
    if (std::strcmp(kernel.lowered, name) != 0) continue;
    auto function = std::make_unique<Function>();
    function->module = module->table;
    function->kernel = &kernel;
    *out = reinterpret_cast<CUfunction>(function.get());
    module->functions.push_back(std::move(function));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

HONE_EMULATED_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, std::size_t* bytes,
                                                CUmodule handle, const char* name) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = find_module(handle);
  if (found == modules().end()) return CUDA_ERROR_INVALID_HANDLE;
  void* address = dlsym((*found)->library, name);
  Dl_info info{};
  void* entry = nullptr;
  if (address == nullptr || dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0 ||
      entry == nullptr) {
    return CUDA_ERROR_NOT_FOUND;
  }
  const auto* symbol = static_cast<const Elf64_Sym*>(entry);
  if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT) return CUDA_ERROR_NOT_FOUND;
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  driver().memory.globals[at] = symbol->st_size;
  (*found)->globals.push_back(at);
  if (out != nullptr) *out = at;
  if (bytes != nullptr) *bytes = symbol->st_size;
  return CUDA_SUCCESS;
}

/// What a kernel can read of an emulated map: the address, the rank and the sizes.
HONE_EMULATED_API CUresult cuTensorMapEncodeTiled(CUtensorMap* map, int, unsigned rank,
                                                  void* address, const std::uint64_t* sizes,
                                                  const std::uint64_t*, const unsigned*,
                                                  const unsigned*, int, int, int, int) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || at % 16 != 0 ||
      rank < 1 || rank > 5 || sizes == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *map = {{at, rank}};
  std::copy_n(sizes, rank, map->opaque + 2);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuFuncGetAttribute(int* out, CUfunction_attribute attribute,
                                              CUfunction handle) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const auto* function = reinterpret_cast<const Function*>(handle);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = kBlockThreadsMax;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:  // the compiler does not say
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *out = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *out = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = 90;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = static_cast<int>(function->shared_bytes_max);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *out = function->non_portable_cluster ? 1 : 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

HONE_EMULATED_API CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index,
                                              std::size_t* offset, std::size_t* size) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const auto* function = reinterpret_cast<const Function*>(handle);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (offset == nullptr || index >= function->kernel->count) return CUDA_ERROR_INVALID_VALUE;
  *offset = function->kernel->places[index][0];
  if (size != nullptr) *size = function->kernel->places[index][1];
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                                              int value) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  auto* function = reinterpret_cast<Function*>(handle);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > static_cast<int>(kSharedBytesMax)) return CUDA_ERROR_INVALID_VALUE;
      function->shared_bytes_max = static_cast<std::uint32_t>(value);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      function->non_portable_cluster = value != 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}
// NOLINTEND(readability-identifier-naming)
