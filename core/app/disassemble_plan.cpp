#include "app/disassemble_plan.hpp"

#include <string>

#include "app/host.hpp"
#include "base/files.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

/// Uses the backend's interpreter, or else plugins.python. The interpreter needs no torch.
Status use_any_interpreter(const Config& config, EvaluatorOptions& options) {
  const BackendConfig* device = device_config(config, config.backend);
  const std::string& own = device != nullptr ? device->python : config.cpu.python;
  if (!own.empty()) return use_interpreter(config.backend + ".python", own, options);
  const std::string& named = config.plugin_host.python;
  const bool is_path = named.find('/') != std::string::npos;
  return use_interpreter("plugins.python", is_path ? named : find_program({named}), options);
}

}  // namespace

Result<std::vector<KernelCode>> disassemble_plan(const Config& config, const recorded::Plan& plan) {
  EvaluatorOptions options;
  options.backend = config.backend;
  options.libexec = install_root() / "libexec";
  HONE_TRY(use_any_interpreter(config, options));
  HONE_ASSIGN(const auto launcher, Launcher::start(launcher_options(config)));
  return disassemble(*launcher, options, plan);
}

}  // namespace hone
