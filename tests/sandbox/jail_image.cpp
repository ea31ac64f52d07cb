// jail_probe as an image: it runs the launcher, whose processes continue in it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

#include "sandbox/jail.hpp"
#include "sandbox_acts.hpp"

namespace {

int begin(int count, char** arguments, char** variables) {
  environ = variables;
  const int status = hone::probe(count, arguments);
  std::fflush(nullptr);
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : nullptr;
  void* entry = library != nullptr ? dlsym(library, "hone_launcher_main") : nullptr;
  if (entry == nullptr) return 2;
  return reinterpret_cast<int (*)(hone::Image)>(entry)(begin);
}
