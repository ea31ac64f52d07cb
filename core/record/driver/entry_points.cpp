// Look-up of functions by name. Private tables and unsupported public functions are refused.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

/// Functions whose signature depends on the requested version: the first row with `since` at most that version holds.
struct Versioned {
  const char* name;
  int since;
  const char* symbol;
};
constexpr Versioned kVersioned[] = {
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxGetDevice", 0, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuCtxSynchronize", 0, "cuCtxSynchronize"},
    {"cuGetProcAddress", 0, "cuGetProcAddress_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 0, "cuStreamGetCaptureInfo_v2"},
};

void* symbol_named(const std::string& name) {
  static void* const kSelf = [] {
    Dl_info info;
    const bool found = ::dladdr(reinterpret_cast<void*>(&the_recording), &info) != 0;
    return found ? ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  return kSelf == nullptr ? nullptr : ::dlsym(kSelf, name.c_str());
}

void* function_named(const char* name, int version) {
  for (const Versioned& one : kVersioned) {
    if (std::strcmp(one.name, name) == 0 && version >= one.since) return symbol_named(one.symbol);
  }
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (void* const found = symbol_named(name + std::string(suffix))) return found;
  }
  return nullptr;
}

}  // namespace

HONE_RECORD_API int cuGetProcAddress_v2(const char* name, void** function, int version,
                                        std::uint64_t, int* found) {
  constexpr int kFound = 0, kMissing = 1;
  *function = function_named(name, version);
  if (found != nullptr) *found = *function != nullptr ? kFound : kMissing;
  return *function != nullptr ? kOk : kNotFound;
}
HONE_RECORD_API int cuGetProcAddress(const char* name, void** function, int version,
                                     std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

/// Rationale: the vendor's libraries ask for private tables, and then for a proof that the driver
/// is genuine. The recording driver gives neither. Calls of such libraries are recorded as operators
/// (hone_record_operator). This call is not a problem, because some libraries ask when they are loaded.
HONE_RECORD_API int cuGetExportTable(const void** table, const Uuid*) {
  *table = nullptr;
  return kNotSupported;
}

// Every other public function exists. A call of one is the recording's problem.
#define HONE_NOT_SUPPORTED(name) \
  HONE_RECORD_API int name() { return hone::record::not_supported(#name); }
#include "record/driver/not_supported.inc"
#undef HONE_NOT_SUPPORTED

/// For the runtime's library, which also has functions that are not supported.
HONE_RECORD_API int hone_record_not_supported(const char* function) {
  return hone::record::not_supported(function);
}
