// Reads and raises RLIMIT_NOFILE.
#include "base/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace hone {
namespace {

constexpr rlim_t kWanted = 65536;

}  // namespace

const char* const kRaiseDescriptors =
    "raise it: ulimit -n 65536, LimitNOFILE= of a service, --ulimit nofile= of a container";

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = std::min(limit.rlim_max, kWanted);
  if (limit.rlim_cur < wanted) {
    const rlimit raised{wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::size_t>(std::min(limit.rlim_cur, rlim_t{1} << 30));
}

Status check_descriptor_limit(std::size_t needed) {
  const std::size_t found = raise_descriptor_limit();
  if (found >= needed) return {};
  return failed_precondition("open-file limit: found " + std::to_string(found) +
                             ", expected at least " + std::to_string(needed) + "; " +
                             kRaiseDescriptors);
}

}  // namespace hone
