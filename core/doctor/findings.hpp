// The checks of `hone doctor`. Each returns findings.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sandbox/messages.hpp"

namespace hone {

struct DoctorFinding {
  enum Kind {
    kGood,
    kNote,     ///< hone works, but less well
    kMissing,  ///< hone cannot serve
  };
  std::string what;  ///< subject, in the first column: "isolation"
  Kind kind = kGood;
  std::string found;
  std::string advice = {};                ///< what to do; empty: nothing
  std::string package = {};               ///< the Debian package that is missing; empty: none
  std::vector<std::string> details = {};  ///< further lines below the finding
};

/// The kernel's and the machine's features. `ready`: the result of decide() for these options on this machine.
std::vector<DoctorFinding> examine_machine(const LauncherOptions& options, const Ready& ready);
/// The interpreters of modules in the configuration: whether each runs in its sandbox, and its packages.
std::vector<DoctorFinding> examine_interpreters(const Config& config);
/// The datasets in the configuration: the number of their tasks, and whether the first can be described.
std::vector<DoctorFinding> examine_datasets(const Config& config);
/// The packages of all findings, for a command line of apt-get; empty: none is missing.
std::string missing_packages(const std::vector<DoctorFinding>& findings);

}  // namespace hone
