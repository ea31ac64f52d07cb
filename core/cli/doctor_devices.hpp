// What `hone doctor` says of devices: for each backend of devices its driver, its compiler and each
// device, asked for in processes of their own.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor_probe.hpp"
#include "config/config.hpp"
#include "model/value.hpp"

namespace hone {

/// One backend, as far as it could be asked.
struct BackendReport {
  std::string backend;
  bool configured = false;  ///< it is the one that would evaluate
  std::vector<std::int64_t>
      wanted;                    ///< indices of devices that are configured; if it is configured
  Value probe = Value::map();    ///< what hone_backend_factory::probe wrote; empty for none
  std::string trouble;           ///< why no device is known; "" where one is
  std::string compiler;          ///< "NVRTC 13.0 builds for sm_90a"
  std::string compiler_trouble;  ///< why nothing can be built; "" where it can
  std::string driver_help, compiler_help;
};

/// Theory of operation: hone touches no device itself. `hone doctor --ask QUESTION` is started for
/// each question, with a time limit, so that a driver that hangs or dies costs an answer only; and
/// it ends when it has answered, so that no context is left.
/// A driver has `seconds` to answer.
std::vector<BackendReport> examine_backends(const Config& config, double seconds);

std::vector<Finding> findings_of(const BackendReport& report);
Value value_of(const BackendReport& report);

/// In the process of one question, "devices" or "compiler": asks the library and reports. Returns an
/// ExitCode.
int answer_question(const std::string& question, const std::string& library);

}  // namespace hone
