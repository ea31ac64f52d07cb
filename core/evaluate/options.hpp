// Options of an evaluator: plain values, filled from the configuration.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "evaluate/memory_budget.hpp"
#include "judge_protocol/settings.hpp"
#include "model/backend_description.hpp"

namespace hone {

/// How one language is compiled.
struct Toolchain {
  std::string compiler;  ///< absolute path; empty for device code
  std::vector<std::string> flags;
  Value options = Value::map();  ///< device code: the backend's own keys of the configuration
};

/// One device: its number (of device code), the judge's own core, and the cores that submissions run on, the first for
/// single-threaded ones.
struct DeviceSpec {
  int index = 0;
  int judge_cpu = 0;
  std::vector<int> cores;
  /// Device code: further lanes of this device, which check modules at the same time, on other cores. They have no lanes.
  std::vector<DeviceSpec> lanes = {};
};

/// Standby interpreters with the device open, on a device with its own memory: for submissions, and for the
/// reference and the baseline of a task.
inline constexpr int kModulesAhead = 3, kTrustedModulesAhead = 2;
/// Kept processes for their owners' next submissions, on a device with its own memory.
inline constexpr std::size_t kRunnersMax = 16;

/// When a process that reads hardware counters starts before a profile needs it (docs/adr/0051).
enum class CountersAhead {
  kAfterFirst,  ///< only after the first profile, while no job waits
  kFromStart,   ///< with the evaluator, and later while no job waits
  kOnce,        ///< with the evaluator, for one profile
};

struct EvaluatorOptions {
  std::string backend = "cpu";
  /// Submissions are code for a device with its own memory: plans describe how it is launched, and hone's
  /// processes launch it.
  bool device_code = false;
  std::map<std::string, std::string> suffixes = {
      {"c", ".c"}, {"c++", ".cpp"}, {"python", ".py"}};  ///< of submissions, by language
  std::vector<std::string> reports = {"code",
                                      "sanitizer"};  ///< reports that builds can add (backend.h)
  DeviceSanitizer sanitizer;                         ///< device code: of the tool sanitize
  DeviceCounters counters;                           ///< device code: of the tool profile
  CountersAhead counters_ahead = CountersAhead::kAfterFirst;
  std::string language;               ///< device code: of submissions, plans and the harness
  std::string harness, known_answer;  ///< device code: texts of BackendDescription
  std::string isolation =
      "client";  ///< device code: "client" keeps a process for each client, "fresh" keeps none
  /// Device code: modules are judged by their recorded plans ("plan"), in processes of their own ("process"), or by
  /// their plans where they have one ("auto").
  std::string modules = "process";
  std::size_t runner_uses = 200;          ///< device code: submissions before a process is replaced
  std::size_t runners_max = kRunnersMax;  ///< device code: most kept processes, one for each owner
  std::uint64_t context_bytes = kContextBytes;  ///< device code: memory of one process' context
  std::string module_place =
      "device";  ///< device code: "emulated" in tests, where memory is the host's
  std::filesystem::path backend_library;  ///< absolute
  std::filesystem::path libexec;  ///< the folder of hone-judge, hone-builder, hone-candidate
  std::map<std::string, Toolchain> toolchains;  ///< by language: "c++", "c"
  std::vector<std::string> readable;            ///< further folders that compilers need
  std::vector<std::string>
      python_readable;              ///< folders that the interpreter of modules imports from
  std::vector<DeviceSpec> devices;  ///< all with the same number of lanes
  int builders = 1;                 ///< builds at a time
  std::size_t queue_max = 1024;     ///< submissions waiting and running
  std::size_t client_max = 512;     ///< of one client
  double build_seconds = 30;
  std::int64_t build_memory_mb = 2048;
  double evaluation_seconds = 120;  ///< for check and measurement of one submission
  std::size_t cache_mb = 512;       ///< of the build cache; a module's plan can have tens of MB
  std::size_t installed_max = 6;    ///< tasks whose reference and baseline a device keeps ready
  double suspect_speedup = 10;      ///< smallest speedup that gets a confirmation run; 0: none
  double suspect_factor = 2;        ///< likewise, relative to the task's best speedup so far
  MeasureSettings measure;
};

inline bool records_modules(const EvaluatorOptions& options) {
  return options.device_code && options.modules != "process";
}

/// Copies the description of a device code backend into the options.
void use_description(const BackendDescription& description, EvaluatorOptions& options);

/// Where modules compute, as an argument of run_module.py.
inline std::string module_place_of(const EvaluatorOptions& options) {
  return options.device_code ? options.module_place : "processor";
}

/// The limits for one lane of a device; lanes share the device's limits.
EvaluatorOptions shared_by_lanes(EvaluatorOptions options);

/// Devices on these cores, which are those that this process may use: the last core is the device's first; with four cores or
/// more, four-core devices of which the first core is the judge's.
std::vector<DeviceSpec> default_devices(const std::vector<int>& cores);

/// The cores of this process that no lane of another device than number `index` uses. Empty: there are no such cores.
std::vector<int> cores_without_other_devices(const std::vector<DeviceSpec>& devices, int index);

/// The cores for a submission's program that runs outside a measurement: those of `cores` that no device uses. If there
/// are none, those on which no single-threaded submission is timed. If there are none of these either, all.
std::vector<int> cores_for_programs(const std::vector<DeviceSpec>& devices,
                                    const std::vector<int>& cores);

}  // namespace hone
