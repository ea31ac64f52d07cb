// System call filters of the seals. Only its .cpp uses libseccomp.
#pragma once

#include "base/result.hpp"

namespace hone {

struct CandidateFilter {
  bool threads = false;  ///< may start threads
  bool folders = false;  ///< may list folders, as an interpreter does
  bool writes = false;   ///< may create files where Landlock allows it
};

/// Allow-list for a candidate; see seal.hpp. Permanent, for the calling process and its later threads.
Status filter_candidate(const CandidateFilter& options);
/// For a candidate in which hone's code drives a device. Its driver may also call the device and map the
/// device's memory. Applies to all existing threads.
Status filter_device();
/// Deny-list for compilers. No sockets are allowed.
Status filter_builder();
/// As filter_builder, with the calls of drivers.
Status filter_module();
/// As filter_module, but named pipes may be made, and Unix sockets may be connected.
Status filter_sanitizer();

}  // namespace hone
