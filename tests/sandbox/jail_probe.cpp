// jail_probe ACT: performs one named act inside a jail and tells how it went: exit code 0 done, 1
// refused (with the errno's name on stdout), 3 unknown act. `seal:`, `seal-threads:`,
// `seal-writes:` or `seal-no-landlock:` before the act seals as a candidate first, `build:` as a builder, `module:` as the interpreter of a
// module on a device, `sanitizer:` as the program that runs a device's sanitizer.
#include <cstdio>
#include <string>
#include <thread>

#include "sandbox/seal.hpp"
#include "sandbox_acts.hpp"

int hone::probe(int count, char** arguments) {
  std::string act = count > 1 ? arguments[1] : "";
  const std::string detail = count > 2 ? arguments[2] : "";
  const auto prefixed = [&](const std::string& prefix) {
    if (!act.starts_with(prefix)) return false;
    act.erase(0, prefix.size());
    return true;
  };
  hone::Status sealed;
  if (prefixed("seal:")) {
    sealed = hone::seal_candidate({});
  } else if (prefixed("seal-writes:")) {
    hone::SealOptions options;
    options.writable = ".";
    sealed = hone::seal_candidate(options);
  } else if (prefixed("seal-threads:")) {
    hone::SealOptions options;
    options.threads = true;
    sealed = hone::seal_candidate(options);
  } else if (prefixed("seal-no-landlock:")) {
    hone::SealOptions options;
    options.landlock = false;
    sealed = hone::seal_candidate(options);
  } else if (prefixed("build:")) {
    sealed = hone::seal_builder({}, ".");
  } else if (prefixed("module:")) {
    sealed = hone::seal_module({}, ".", {});
  } else if (prefixed("sanitizer:")) {
    sealed = hone::seal_sanitizer({}, ".", {});
  }
  if (!sealed) {
    std::printf("%s\n", sealed.error().message.c_str());
    return 4;
  }
  return hone::perform(act, detail);
}
