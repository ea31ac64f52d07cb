// A private root: a small read-only file tree in its own mount namespace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

struct PrivateRoot {
  std::vector<std::string>
      readable;  ///< files and folders, at the same paths; missing ones are ignored
  std::vector<std::string> devices;  ///< such as /dev/null
  std::string writable;              ///< a tmpfs of this name; empty: none
  std::int64_t writable_bytes = 0;
  bool executable = true;  ///< files in the writable folder may be executed
  uid_t owner = 0;         ///< of the writable folder
  bool whole_proc =
      false;  ///< the whole /proc, because drivers read /proc/driver and write their threads' names
  bool pid_namespace =
      false;  ///< the caller is in its own pid namespace, so that a new /proc can be mounted
};

/// Builds it and makes it the caller's root, with cwd "/". The caller is in a new mount namespace,
/// has CAP_SYS_ADMIN there, and one thread. After an error the process is in no state to go on.
Status enter_private_root(const PrivateRoot& root);

/// In a new user namespace: maps the one user that we were outside, under the same number.
Status map_own_user(uid_t user, gid_t group);

/// Files that any dynamically linked program needs: the loader, its cache and the libraries.
std::vector<std::string> library_folders();
/// Further folders that compilers need.
std::vector<std::string> toolchain_folders();

}  // namespace hone
