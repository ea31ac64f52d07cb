// Attacks: the table of submissions paid for cheating, and what must come of each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.hpp"

namespace hone::test {

/// What must come of a submission.
struct Expected {
  std::vector<Outcome> outcomes = {};         ///< one of them
  std::string words = {};                     ///< in the reason or the compiler's words; empty: any
  double speedup_min = 0, speedup_max = 1e9;  ///< of a correct one
  std::string flag = {};                      ///< of a measurement; empty: any
  std::string caught = {};                    ///< its class, model/caught.hpp; empty: any
};

/// One submission: submissions/<name>.cpp.
struct Attack {
  std::string name;
  std::string task = "add_relu";
  Expected stopped = {};                ///< with every defence
  std::vector<std::string> off = {};    ///< the defences without which it succeeds; none: not tried
  Expected succeeds = {};               ///< without them
  std::vector<std::string> alone = {};  ///< it is stopped without these, too: not by them alone
};

std::ostream& operator<<(std::ostream& out, const Attack& attack);  // gtest prints it

const std::vector<Attack>& attacks();

/// Its source, with "inside.hpp" put in and @SOURCE@ replaced.
std::string source_of(const std::string& name);

}  // namespace hone::test
