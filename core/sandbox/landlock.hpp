// Landlock by its raw system calls: the headers of older systems lack its later rights.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// The ABI of this kernel's Landlock, 0 without it; *error_number then says why (ENOSYS,
/// EOPNOTSUPP, EPERM).
int landlock_abi(int* error_number = nullptr);

/// Confines the calling thread (for good; no_new_privs is set already): of the file system, only
/// what lies below `readable` may be read and executed and below `writable` also written; no TCP;
/// no abstract socket and no process outside can be reached. A missing path is left out.
Status restrict_with_landlock(const std::vector<std::string>& readable,
                              const std::vector<std::string>& writable);

}  // namespace hone
