// The devices part of `hone doctor`: driver, compiler and devices of each backend, queried in separate processes.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "doctor/findings.hpp"
#include "model/value.hpp"

namespace hone {

/// One backend, with the results of its queries.
struct BackendReport {
  std::string backend;
  bool configured = false;           ///< the configured backend
  std::vector<std::int64_t> wanted;  ///< configured device numbers, if this backend is configured
  Value probe = Value::map();        ///< output of hone_backend_factory::probe; empty for none
  std::string trouble;               ///< error of the device query; "" if it succeeded
  std::string compiler;              ///< "NVRTC 13.0 builds for sm_90a"
  std::string compiler_trouble;      ///< error of the test build; "" if it succeeded
  std::string driver_help, compiler_help;
  DeviceTool sanitizer, counters;  ///< path: "" if there is none that can be used
  std::vector<std::string>
      refused_counters;  ///< libraries that cannot read counters, each with the reason
};

/// Theory of operation: hone itself uses no device. It starts `hone doctor --ask QUESTION` for each query, with a time limit of `seconds`. A driver that hangs or crashes costs only this answer, and no context remains.
std::vector<BackendReport> examine_backends(const Config& config, double seconds);

std::vector<DoctorFinding> findings_of(const BackendReport& report);
Value value_of(const BackendReport& report);

/// Runs in the child process: queries the library for "devices" or "compiler" and prints the result. Returns an ExitCode.
int answer_question(const std::string& question, const std::string& library);

}  // namespace hone
