// What `hone doctor` looks at, one finding each.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sandbox/messages.hpp"

namespace hone {

struct DoctorFinding {
  enum Kind {
    kGood,
    kNote,
    kMissing
  };  ///< kNote: hone works, but less well; kMissing: it cannot serve
  std::string what;
  Kind kind = kGood;
  std::string found;
  std::string advice = {};                ///< how to get it; empty where nothing is to be done
  std::string package = {};               ///< Debian's, when one is missing
  std::vector<std::string> details = {};  ///< more of what was found, a line each
};

/// `ready`: what decide() makes of these options on this machine.
std::vector<DoctorFinding> examine_machine(const LauncherOptions& options, const Ready& ready);
/// Of the interpreters of modules that it names: whether they run in their jail, and what they have.
std::vector<DoctorFinding> examine_interpreters(const Config& config);
/// Of the datasets that it names: how many tasks they list, and whether the first can be described.
std::vector<DoctorFinding> examine_datasets(const Config& config);
/// For an apt-get line; "" when nothing is missing.
std::string missing_packages(const std::vector<DoctorFinding>& findings);

}  // namespace hone
