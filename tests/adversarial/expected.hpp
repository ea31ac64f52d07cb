// Expected: what must come of a submission that is paid for cheating, and how a verdict differs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"

namespace hone::test {

struct Expected {
  std::vector<Outcome> outcomes = {};         ///< one of them
  std::string words = {};                     ///< in the reason or the compiler's words; empty: any
  double speedup_min = 0, speedup_max = 1e9;  ///< of a correct one
  std::string flag = {};                      ///< of a measurement; empty: any
  std::string caught = {};                    ///< its class, model/caught.hpp; empty: any
  bool timed = true;                          ///< a correct one is
};

/// Empty when the verdict is as expected, else what differs.
std::string difference(const Result<Verdict>& verdict, const Expected& expected);
std::string text_of(const Result<Verdict>& verdict);

}  // namespace hone::test
