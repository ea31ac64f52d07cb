// Opens a library below the shim and finds its functions.
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <initializer_list>
#include <string>

namespace hone_shim {

/// Opens the first that exists, in the shim's folder or in the system's folders.
inline void* open_library(std::initializer_list<const char*> names) {
  // Rationale: by its path. A sanitizer's dlopen does not know our run path.
  Dl_info self{};
  std::string folder;
  if (dladdr(reinterpret_cast<void*>(&open_library), &self) != 0 && self.dli_fname != nullptr)
    folder = self.dli_fname;
  folder.erase(folder.rfind('/') + 1);
  for (const char* name : names) {
    if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
void look_up(void* library, const char* symbol, Function& function, const char*& missing) {
  void* found = library != nullptr ? dlsym(library, symbol) : nullptr;
  if (found == nullptr && missing == nullptr) missing = symbol;
  std::memcpy(&function, &found, sizeof found);
}

}  // namespace hone_shim
