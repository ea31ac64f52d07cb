// System call filters of the seals. The one place that knows libseccomp.
#pragma once

#include "base/result.hpp"

namespace hone {

struct CandidateFilter {
  bool threads = false;  ///< it may start threads
  bool folders = false;  ///< it may look into folders, as an interpreter does
  bool writes = false;   ///< it may create files where Landlock allows it
};

/// Allow-list for a candidate; see seal.hpp. For good, for the calling process and its later
/// threads.
Status filter_candidate(const CandidateFilter& options);
/// For a candidate whose own code is ours and drives a device: its driver may talk to the device and
/// map its memory; beyond that, nothing that a candidate may not. Binds all threads that there are.
Status filter_device();
/// Deny-list for compilers, sockets by an allow-list (none).
Status filter_builder();
/// As filter_builder, with what drivers need.
Status filter_module();

}  // namespace hone
