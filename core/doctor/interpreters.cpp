// Starts each configured interpreter in the sandbox of modules.
#include "app/host.hpp"
#include "base/files.hpp"
#include "doctor/findings.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

constexpr double kPatience = 120;  // seconds; two gigabytes of libraries on a cold disk

/// Versions that it reports, or the error that makes it unusable.
Result<std::string> describe(Launcher& launcher, const std::string& key, const std::string& path,
                             bool device) {
  EvaluatorOptions options;
  options.libexec = install_root() / "libexec";
  HONE_TRY(use_interpreter(key, path, options));
  SpawnRequest spawn;
  spawn.jail = device ? Jail::kBuilder : Jail::kCandidate;
  spawn.label = key;
  spawn.program = path;
  spawn.device = device;
  spawn.readable = options.readable;
  spawn.limits.processes = 512;
  const auto script = install_root() / "share/module/shared/describe_interpreter.py";
  spawn.arguments = {"-I", "-B", script.string(), device ? "device" : "processor"};
  HONE_ASSIGN(const auto process, launcher.spawn(spawn));
  HONE_ASSIGN(const ProcessExit exit, process->wait(kPatience));
  std::string said = exit.output.substr(0, exit.output.find_last_not_of('\n') + 1);
  if (exit.exit_code == 0) return said.substr(said.rfind('\n') + 1);
  if (exit.signal != 0) said = "ended with " + signal_name(exit.signal) + " " + said;
  return failed_precondition(said.substr(said.rfind('\n') + 1));
}

}  // namespace

std::vector<DoctorFinding> examine_interpreters(const Config& config) {
  struct Named {
    std::string key, path;
    bool device;
  };
  std::vector<Named> named{{"cpu.python", config.cpu.python, false}};
  if (const BackendConfig* own = device_config(config, config.backend); own != nullptr)
    named.push_back({config.backend + ".python", own->python, true});
  std::vector<DoctorFinding> findings;
  for (const auto& [key, path, device] : named) {
    if (path.empty()) continue;
    LauncherOptions options;
    options.device = launcher_options(config).device;
    const auto launcher = Launcher::start(options);
    const auto said = launcher ? describe(**launcher, key, path, device) : launcher.error();
    findings.push_back(
        {key, said ? DoctorFinding::kGood : DoctorFinding::kMissing,
         said ? *said : path + ": " + said.error().message,
         said ? "" : "scripts/setup --python makes an interpreter with torch and triton"});
  }
  return findings;
}

}  // namespace hone
