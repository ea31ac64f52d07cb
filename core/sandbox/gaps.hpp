// Gaps: what an isolation level does not stop, said where people look: `hone doctor`, and the table
// in docs/threats.md, which a test holds to this list.
#pragma once

#include <string_view>
#include <vector>

#include "sandbox/probe.hpp"

namespace hone {

struct Gap {
  enum Where {
    kAlways,
    kSameUser,       ///< jails have hone's own user: no root, or `filtered`
    kOldLandlock,    ///< that, and a Landlock that does not know of signals
    kPtraceFreezer,  ///< no cgroup.freeze
    kMemoryPolled,   ///< no cgroup that limits memory
  };
  IsolationLevel highest;  ///< level at which it is open; it is at those below, too
  Where where;
  std::string_view text;
  std::string_view shown_by;  ///< a test, or "" where none can show it
};

const std::vector<Gap>& all_gaps();
/// Those that are open at `level` on a machine like this.
std::vector<Gap> open_gaps(IsolationLevel level, const Capabilities& capabilities);

}  // namespace hone
