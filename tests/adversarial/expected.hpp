// Expected: the expected verdict of an attack, and the difference to an actual one.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"

namespace hone::test {

struct Expected {
  std::vector<Outcome> outcomes = {};  ///< one of them
  std::string words = {};  ///< in the reason, the compiler's words or the error; empty: any
  double speedup_min = 0, speedup_max = 1e9;  ///< of a correct one
  std::string flag = {};                      ///< of a measurement; empty: any
  std::string caught = {};                    ///< its class, model/caught.hpp; empty: any
  bool timed = true;                          ///< a correct one is
  bool unscored = false;                      ///< no verdict at all
  double paid_max = 1e9;     ///< the lower end where there is a flag, as rewards pay
  int rounds_max = 1 << 20;  ///< of a measurement
};

/// Whether a submission got more than it should: an outcome that `stopped` does not allow and that pays, or a higher
/// speedup. A flag or a class of cheating that was not named is no gain.
bool has_gained(const Verdict& verdict, const Expected& stopped);
/// Whether other work on the cores can change the outcome: a figure, a time limit, or a class that a measurement finds.
bool needs_quiet_cores(const Expected& expected);
/// Empty when the verdict is as expected, else what differs.
std::string difference(const Result<Verdict>& verdict, const Expected& expected);
std::string text_of(const Result<Verdict>& verdict);

}  // namespace hone::test
