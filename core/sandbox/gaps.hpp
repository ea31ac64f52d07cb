// Gaps: risks that an isolation level does not prevent. `hone doctor` prints them, and docs/threats.md has the same table, which a test compares.
#pragma once

#include <string_view>
#include <vector>

#include "sandbox/probe.hpp"

namespace hone {

struct Gap {
  enum Where {
    kAlways,
    kSameUser,       ///< jails have hone's own user: no root, or `filtered`
    kOldLandlock,    ///< the same, with a Landlock that does not restrict signals
    kPtraceFreezer,  ///< no cgroup.freeze
    kMemoryPolled,   ///< no cgroup that limits memory
  };
  IsolationLevel highest;  ///< highest level at which it is open; it is open at lower levels, too
  Where where;
  std::string_view text;
  std::string_view shown_by;  ///< a test that shows it, or ""
};

const std::vector<Gap>& all_gaps();
/// Those that are open at `level` on a machine like this.
std::vector<Gap> open_gaps(IsolationLevel level, const Capabilities& capabilities);

}  // namespace hone
