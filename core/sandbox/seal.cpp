// Seals: no_new_privs, Landlock and seccomp, in that order.
#include "sandbox/seal.hpp"

#include <dirent.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "sandbox/landlock.hpp"
#include "sandbox/private_root.hpp"
#include "sandbox/seccomp_filter.hpp"

namespace hone {
namespace {

#ifndef HONE_SANITIZED
int count_threads() {
  DIR* folder = ::opendir("/proc/self/task");
  if (folder == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return count;
}
#endif

/// Landlock and the filter apply to the calling thread only, so it must be the only thread. (Sanitizers add
/// one.)
Status begin([[maybe_unused]] bool may_have_threads = false) {
#ifndef HONE_SANITIZED
  if (const int threads = count_threads(); threads > 1 && !may_have_threads) {
    return failed_precondition("seal: found " + std::to_string(threads) + " threads, expected 1");
  }
#endif
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("no_new_privs", errno);
  return {};
}

/// The toolchain's folders and these ones, for processes that run compilers.
Status wall_off_compilers(const std::vector<std::string>& readable,
                          std::vector<std::string> writable) {
  HONE_TRY(begin());
  if (landlock_abi() == 0) return {};
  std::vector<std::string> seen = toolchain_folders();
  seen.insert(seen.end(), readable.begin(), readable.end());
  writable.insert(writable.end(), {"/dev/null", "/dev/zero", "/dev/urandom"});
  return restrict_with_landlock(seen, writable);
}

}  // namespace

Status seal_candidate(const SealOptions& options) {
  HONE_TRY(begin(options.device));
  // Where Yama restricts ptrace, the candidate must allow the judge to trace it. Without Yama the call fails
  // and is not needed.
  (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const bool writes = !options.writable.empty() && landlock_abi() > 0;
  if (options.landlock && landlock_abi() > 0) {
    std::vector<std::string> seen = options.readable;
    if (!seen.empty()) {
      const std::vector<std::string> libraries = library_folders();
      seen.insert(seen.end(), libraries.begin(), libraries.end());
    }
    std::vector<std::string> written;
    if (writes) written.push_back(options.writable);
    HONE_TRY(restrict_with_landlock(seen, written));
  }
  if (!options.seccomp) return {};
  if (options.device) return filter_device();
  HONE_TRY(filter_candidate({options.threads, !options.readable.empty(), writes}));
  return {};
}

namespace {

/// Opens only the toolchain's folders, these folders, /sys, /dev, /proc, and the nodes and driver folders of devices.
Status wall_off_programs(const std::vector<std::string>& readable, const std::string& writable,
                         const DeviceFiles& device) {
  std::vector<std::string> seen = readable;
  HONE_ASSIGN(std::vector<std::string> written, device_nodes(device.nodes));
  for (const auto& more : {driver_folders(device), std::vector<std::string>{"/sys", "/dev"}})
    seen.insert(seen.end(), more.begin(), more.end());
  written.insert(written.end(), {writable, "/proc"});
  return wall_off_compilers(seen, written);
}

}  // namespace

Status seal_module(const std::vector<std::string>& readable, const std::string& writable,
                   const DeviceFiles& device) {
  HONE_TRY(wall_off_programs(readable, writable, device));
  return filter_module();
}

Status seal_sanitizer(const std::vector<std::string>& readable, const std::string& writable,
                      const DeviceFiles& device) {
  HONE_TRY(wall_off_programs(readable, writable, device));
  return filter_sanitizer();
}

Status seal_builder(const std::vector<std::string>& readable, const std::string& writable) {
  HONE_TRY(wall_off_compilers(readable, {writable}));
  return filter_builder();
}

Status guard_trusted_process() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return system_error("PR_SET_DUMPABLE", errno);
  return {};
}

}  // namespace hone
