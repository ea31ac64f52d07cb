// The report of `hone doctor`: all findings of this machine and a configuration.
#pragma once

#include <string>
#include <vector>

#include "doctor/devices.hpp"
#include "doctor/findings.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct DoctorReport {
  Ready ready;
  std::vector<DoctorFinding> findings;
  std::vector<BackendReport> backends;
  std::string packages;  ///< for an apt-get line; empty: nothing is missing

  /// Whether this machine has everything that hone needs.
  bool serves() const;
};

/// `seconds`: time limit for the query of one driver. The terminal shows the progress.
DoctorReport examine_all(Terminal& terminal, const Config& config, double seconds);

void print_report(Terminal& terminal, const DoctorReport& report, bool json);

}  // namespace hone
