// Attacks: submissions that try to cheat, and the expected result of each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "adversarial/expected.hpp"

namespace hone::test {

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
