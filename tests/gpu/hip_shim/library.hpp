// Opening a library under the shim and finding its functions.
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <initializer_list>

namespace hone_shim {

/// The first that there is; beside the shim, or where the system looks.
inline void* open_library(std::initializer_list<const char*> names) {
  for (const char* name : names) {
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
