// The attacks in device code, and the expected result of each.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "adversarial/expected.hpp"

namespace hone::test {

/// Where an attack says something.
enum class On {
  kAny,
  kDevice,  ///< not over the emulator: its clock, its words or its caches are no device's
};

/// One submission: submissions/<name>.cu; "<name>_<number>us" waits for that time.
struct GpuAttack {
  std::string name;
  Expected stopped = {};                ///< with every defence
  std::vector<std::string> off = {};    ///< the defences without which it succeeds; none: not tried
  Expected succeeds = {};               ///< without them
  std::string before = {};              ///< judged first, of the same client, in the same process
  std::vector<std::string> alone = {};  ///< it is stopped without these, too,
  Expected still = {};                  ///< so
  On on = On::kAny;
  std::string isolation = "client";      ///< in which it is stopped; it succeeds in "client"
  std::vector<std::string> always = {};  ///< off whenever it is judged, or it could not be tried
};

std::ostream& operator<<(std::ostream& out, const GpuAttack& attack);  // gtest prints it

const std::vector<GpuAttack>& gpu_attacks();

}  // namespace hone::test
