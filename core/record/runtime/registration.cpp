// Registration before main(): compiled programs register images, and host addresses of kernels and
// variables. An image is loaded when one of its kernels or variables is needed.
#include <mutex>
#include <unordered_map>

#include "record/runtime/driver_calls.hpp"

namespace hone::record {
namespace {

struct RegisteredImage {
  const void* image;
  ModuleHandle library = nullptr;
};

struct RegisteredSymbol {
  RegisteredImage* image;
  const char* name;
  void* handle = nullptr;
};

/// Never destroyed, so that static destructors of submissions can still use it.
struct Registry {
  std::mutex lock;
  std::unordered_map<const void*, RegisteredSymbol> functions, variables;
};
Registry& registry() {
  static auto* const kRegistry = new Registry;
  return *kRegistry;
}

int load(RegisteredImage& image) {
  if (image.library != nullptr) return kOk;
  return cuLibraryLoadData(&image.library, image.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace

int resolve(const void* kernel, FunctionHandle* function) {
  need_context();
  Registry& known = registry();
  const std::lock_guard<std::mutex> lock(known.lock);
  const auto found = known.functions.find(kernel);
  if (found == known.functions.end()) {
    *function = const_cast<void*>(kernel);  // a handle already; the driver checks it
    return kOk;
  }
  RegisteredSymbol& symbol = found->second;
  if (symbol.handle == nullptr) {
    if (const int status = load(*symbol.image); status != kOk) return status;
    if (cuLibraryGetKernel(&symbol.handle, symbol.image->library, symbol.name) != kOk)
      return kInvalidDeviceFunction;
  }
  *function = symbol.handle;
  return kOk;
}

}  // namespace hone::record

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

HONE_RECORD_API void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(new RegisteredImage{image});
}
HONE_RECORD_API void __cudaRegisterFatBinaryEnd(void**) {}
HONE_RECORD_API void __cudaUnregisterFatBinary(void**) {}
HONE_RECORD_API char __cudaInitModule(void**) { return 1; }
HONE_RECORD_API void __cudaRegisterFunction(void** image, const char* host, char*, const char* name,
                                            int, void*, void*, void*, void*, int*) {
  const std::lock_guard<std::mutex> lock(registry().lock);
  registry().functions[host] = {reinterpret_cast<RegisteredImage*>(image), name};
}
HONE_RECORD_API void __cudaRegisterVar(void** image, char* host, char*, const char* name, int,
                                       std::size_t, int, int) {
  const std::lock_guard<std::mutex> lock(registry().lock);
  registry().variables[host] = {reinterpret_cast<RegisteredImage*>(image), name};
}
HONE_RECORD_API void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t,
                                              int, int) {
  hone_record_not_supported("__cudaRegisterManagedVar");
}

HONE_RECORD_API int cudaGetSymbolAddress(void** address, const void* symbol) {
  need_context();
  Registry& known = registry();
  const std::lock_guard<std::mutex> lock(known.lock);
  const auto found = known.variables.find(symbol);
  if (found == known.variables.end()) return answered(kInvalidSymbol);
  if (const int status = load(*found->second.image); status != kOk) return answered(status);
  DeviceAddress start = 0;
  const int status =
      cuLibraryGetGlobal(&start, nullptr, found->second.image->library, found->second.name);
  *address = reinterpret_cast<void*>(start);
  return answered(status);
}
HONE_RECORD_API int cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  void* address = nullptr;
  if (const int status = cudaGetSymbolAddress(&address, symbol); status != kOk) return status;
  constexpr int kRangeSize = kPointerRangeSize;
  return answered(
      cuPointerGetAttribute(bytes, kRangeSize, reinterpret_cast<DeviceAddress>(address)));
}
HONE_RECORD_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                            std::size_t offset, int, StreamHandle stream) {
  void* address = nullptr;
  if (const int status = cudaGetSymbolAddress(&address, symbol); status != kOk) return status;
  return answered(cuMemcpyAsync(reinterpret_cast<DeviceAddress>(address) + offset,
                                reinterpret_cast<DeviceAddress>(from), bytes, stream));
}
HONE_RECORD_API int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                       std::size_t offset, int kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}
HONE_RECORD_API int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                              std::size_t offset, int, StreamHandle stream) {
  void* address = nullptr;
  if (const int status = cudaGetSymbolAddress(&address, symbol); status != kOk) return status;
  return answered(cuMemcpyAsync(reinterpret_cast<DeviceAddress>(to),
                                reinterpret_cast<DeviceAddress>(address) + offset, bytes, stream));
}
HONE_RECORD_API int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                         std::size_t offset, int kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
}
