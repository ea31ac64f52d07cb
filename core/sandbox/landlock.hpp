// Landlock by raw system calls, because headers of older systems lack its later rights.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// The ABI of this kernel's Landlock; 0: none, and *error_number has the reason (ENOSYS, EOPNOTSUPP, EPERM).
int landlock_abi(int* error_number = nullptr);

/// Restricts the calling thread permanently; no_new_privs must be set. Files below `readable` may be read and
/// executed, files below `writable` also written, and no others. Denies TCP, abstract sockets and signals to
/// processes outside. Missing paths are ignored.
Status restrict_with_landlock(const std::vector<std::string>& readable,
                              const std::vector<std::string>& writable);

}  // namespace hone
