// The limit of open files (RLIMIT_NOFILE) of this process.
#pragma once

#include <cstddef>

#include "base/result.hpp"

namespace hone {

/// Raises the soft limit to the hard limit, but not above 65,536, and returns the new soft limit. Rationale
/// for the bound: four times the connections of a server; programs that visit all descriptors are slow above
/// it.
std::size_t raise_descriptor_limit();

/// failed_precondition, with the limit and how to raise it, if fewer than `needed` files may be open.
Status check_descriptor_limit(std::size_t needed);

/// "raise it: ulimit -n 65536, …"
extern const char* const kRaiseDescriptors;

}  // namespace hone
