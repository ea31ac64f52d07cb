// Queries backends in child processes, and formats the results.
#include "doctor/devices.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "app/host.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "conformance/check_process.hpp"
#include "evaluate/device_counting.hpp"
#include "evaluate/device_sanitizing.hpp"
#include "judge/known_answer.hpp"
#include "plugin/backend.hpp"
#include "terminal/terminal.hpp"

namespace hone {
namespace {

constexpr double kBuildSeconds = 30;
constexpr double kGraceSeconds = 10;  // added to the compiler's own limit

std::string text_in(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}
double number_in(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found != nullptr && found->is_number() ? found->as_double() : 0;
}
bool flag_in(const Value& map, std::string_view key) {
  const Value* found = map.find(key);
  return found != nullptr && *found == Value(true);
}
std::string words_of(const Value* list, const char* between) {
  std::string text;
  if (list == nullptr || !list->is_array()) return text;
  for (const Value& item : list->as_array()) {
    text += (text.empty() ? "" : between) + (item.is_string() ? item.as_string() : to_json(item));
  }
  return text;
}
std::string whole(double number) { return std::to_string(static_cast<std::int64_t>(number)); }
std::string scaled(double number, double unit, const char* name) {
  return short_number(number / unit) + " " + name;
}

/// {"ok": value} or {"error": words} of one question.
Value ask(const std::string& question, const std::string& library, const Value& config,
          double seconds) {
  CheckProcessOptions options;
  options.timeout_s = seconds;
  options.config_json = to_json(config);
  const auto ran =
      run_check_process("/proc/self/exe", {"doctor", "--ask", question, library}, options);
  if (!ran) return Value::map({{"error", ran.error().message}});
  switch (ran->outcome) {
    case CheckOutcome::kPassed: {
      auto value = from_json(ran->message);
      if (!value) return Value::map({{"error", value.error().message}});
      return Value::map({{"ok", std::move(value).value()}});
    }
    case CheckOutcome::kCrashed:
      return Value::map({{"error", "the query ended with " + ran->message}});
    case CheckOutcome::kTimedOut:
      return Value::map({{"error", "the query timed out: " + ran->message}});
    default:
      return Value::map({{"error", ran->message}});
  }
}

/// Build options of this backend that depend on the machine.
Value build_options(const BackendConfig* config, const Value& probe) {
  Value options = config != nullptr ? config->options : Value::map();
  options.set("seconds", kBuildSeconds);
  std::string architecture = text_in(options, "architecture");
  const Value* devices = probe.find("devices");
  if (architecture.empty() && devices != nullptr && !devices->as_array().empty()) {
    architecture = text_in(devices->as_array().front(), "architecture");
  }
  if (!architecture.empty()) options.set("architecture", architecture);
  return options;
}

void ask_both(const std::string& library, const BackendConfig* config, double seconds,
              BackendReport& report) {
  const Value devices = ask("devices", library, Value::map(), seconds);
  report.trouble = text_in(devices, "error");
  if (const Value* probe = devices.find("ok")) report.probe = *probe;
  const auto scratch = ScratchFolder::make();
  if (!scratch) {
    report.compiler_trouble = scratch.error().message;
    return;
  }
  const Value built = ask("compiler", library,
                          Value::map({{"folder", scratch->path().string()},
                                      {"options", build_options(config, report.probe)}}),
                          kBuildSeconds + kGraceSeconds);
  report.compiler_trouble = text_in(built, "error");
  if (const Value* result = built.find("ok")) report.compiler = text_in(*result, "compiler");
}

/// The sanitizer and the library of counters that the configuration names, or those that were found.
void find_tools(const BackendDescription& described, const BackendConfig* config,
                BackendReport& report) {
  DeviceSanitizer sanitizer = described.sanitizer;
  DeviceCounters counters = described.counters;
  const Value options = config != nullptr ? config->options : Value::map();
  use_named_path(sanitizer, options);
  report.refused_counters =
      find_library(counters, options, config != nullptr ? config->python : "");
  if (!expect_sanitizer(sanitizer)) sanitizer.path.clear();
  if (!counters.path.empty()) {  // the configuration may name one that does not serve
    const std::string trouble = trouble_with(counters.path, counters);
    if (!trouble.empty()) report.refused_counters.push_back(counters.path + ": " + trouble);
    if (!trouble.empty()) counters.path.clear();
  }
  report.sanitizer = sanitizer;
  report.counters = counters;
}

BackendReport examine_backend(const Config& config, const Registry& registry,
                              const std::string& name, const Value& described, double seconds) {
  BackendReport report;
  report.backend = name;
  report.configured = config.backend == name;
  if (const Value* needs = described.find("needs"); needs != nullptr && needs->is_map()) {
    report.driver_help = text_in(*needs, "driver");
    report.compiler_help = text_in(*needs, "compiler");
  }
  const BackendConfig* own = device_config(config, name);
  if (own != nullptr && report.configured) report.wanted = own->devices;
  if (const auto typed = read_backend_description(described, name)) find_tools(*typed, own, report);
  std::filesystem::path library = own != nullptr ? own->library : "";
  if (library.empty()) {
    const auto found = registry.library(PluginKind::kBackend, name);
    if (!found) {
      report.trouble = report.compiler_trouble = found.error().message;
      return report;
    }
    library = found->path();
  }
  ask_both(std::filesystem::absolute(library).string(), own, seconds, report);
  return report;
}

std::string clocks_words(const Value& device) {
  const Value* clocks = device.find("clocks");
  if (clocks == nullptr || !clocks->is_map()) return "";
  const auto one = [&](const char* what, const std::string& key) {
    const double now = number_in(*clocks, key), most = number_in(*clocks, key + "_max");
    const std::string of = most > 0 ? scaled(most, 1e6, "MHz") + " at most" : "unknown";
    return std::string(what) + " " + (now > 0 ? scaled(now, 1e6, "MHz") + " now, " : "") + of;
  };
  std::string words = "clocks: " + one("core", "core_hz") + "; " + one("memory", "memory_hz");
  const std::string reasons = words_of(device.find("throttled"), ", ");
  if (!reasons.empty()) return words + "; throttled: " + reasons;
  return words + (flag_in(device, "throttle_known") ? "; not throttled" : "; throttling unknown");
}

std::string features_words(const Value& device) {
  std::string words;
  if (const Value* limits = device.find("limits"); limits != nullptr && limits->is_map()) {
    const auto cluster = static_cast<int>(number_in(*limits, "cluster"));
    words = "block: " + whole(number_in(*limits, "block_threads")) + " threads, " +
            scaled(number_in(*limits, "shared_bytes"), 1024, "KiB of shared memory") + "; " +
            (cluster > 0 ? "clusters of " + std::to_string(cluster) : "no clusters");
  }
  words += flag_in(device, "cooperative") ? "; cooperative launches" : "; no cooperative launches";
  const std::string peers = words_of(device.find("peers"), ", ");
  words += peers.empty() ? "; no peer access" : "; peer access to devices " + peers;
  return words + (flag_in(device, "host_memory_reachable") ? " and pageable host memory" : "");
}

DoctorFinding device_finding(const BackendReport& report, const Value& device) {
  const DoctorFinding::Kind bad =
      report.configured ? DoctorFinding::kMissing : DoctorFinding::kNote;
  DoctorFinding finding;
  finding.what = report.backend + " device " + to_json(*device.find("index"));
  if (const std::string error = text_in(device, "error"); !error.empty()) {
    finding.kind = bad;
    finding.found = "cannot be opened: " + error;
    finding.advice = report.driver_help;
    return finding;
  }
  finding.found = text_in(device, "name") + ", " + text_in(device, "architecture") + ": " +
                  scaled(number_in(device, "memory_bytes"), 1e9, "GB") + " at " +
                  scaled(number_in(device, "dram_bytes_per_second"), 1e12, "TB/s") + ", cache " +
                  scaled(number_in(device, "cache_bytes"), 1e6, "MB") + ", " +
                  whole(number_in(device, "multiprocessors")) + " multiprocessors";
  finding.details = {clocks_words(device), features_words(device)};
  const std::string sharing = text_in(device, "sharing");
  if (!sharing.empty()) {
    finding.kind = bad;
    finding.advice = "hone cannot use it: memory cannot be shared between processes: " + sharing;
  } else {
    finding.details.emplace_back(
        "memory: export, import and read back of a descriptor work, as judge and candidate need");
    if (!words_of(device.find("throttled"), "").empty()) {
      finding.kind = DoctorFinding::kNote;
      finding.advice = "measurements differ from those of an unthrottled device";
    }
  }
  return finding;
}

/// The backend's message without its name, which the report prints.
Error own_words(Error error, const Backend& backend, const char* call) {
  const std::string before = backend.name() + ": " + call + ": ";
  if (error.message.starts_with(before)) error.message.erase(0, before.size());
  return error;
}

Result<Value> tell_devices(const Backend& backend) {
  auto probed = backend.probe();
  if (!probed) return own_words(probed.error(), backend, "probe");
  return probed;
}

Result<Value> tell_compiler(const Backend& backend, const Value& asked) {
  const std::string folder = text_in(asked, "folder");
  const Value* given = asked.find("options");
  const Value options = given != nullptr ? *given : Value::map();
  HONE_ASSIGN(const BackendDescription described, backend.description());
  if (folder.empty() || chdir(folder.c_str()) != 0) {
    return system_error("create a build folder", errno);
  }
  const std::string text =
      described.known_answer.empty() ? std::string(known_answer_source()) : described.known_answer;
  const auto tried = backend.build(
      Value::map({{"sources", Value::array({Value::map({{"name", "probe"}, {"text", text}})})},
                  {"language", described.languages.front()},
                  {"entries", Value::array({known_answer_kernels().front()})},
                  {"options", options}}));
  if (!tried) return own_words(tried.error(), backend, "build");
  const Value& built = *tried;
  const std::string toolchain = text_in(built, "toolchain");
  if (*built.find("ok") != Value(true)) {
    return unavailable(toolchain + (toolchain.empty() ? "" : ": ") +
                       "it cannot build a small kernel: " + text_in(built, "diagnostics"));
  }
  const std::string architecture = text_in(options, "architecture");
  return Value::map(
      {{"compiler", toolchain + " builds" + (architecture.empty() ? "" : " for " + architecture)}});
}

}  // namespace

std::vector<BackendReport> examine_backends(const Config& config, double seconds) {
  std::vector<BackendReport> reports;
  const auto registry = open_registry(config);
  for (const PluginInfo& info : registry->plugins()) {
    if (info.kind != PluginKind::kBackend || !info.error.empty()) continue;
    const auto described = registry->describe(info.kind, info.name);
    // Skips backends that freeze candidates: they run on the CPU, which machine.cpp reports.
    if (!described || text_in(*described, "withholds") == "freeze") continue;
    reports.push_back(examine_backend(config, *registry, info.name, *described, seconds));
  }
  const bool has_devices =
      std::any_of(reports.begin(), reports.end(),
                  [](const BackendReport& report) { return report.configured; });
  if (!has_devices && device_config(config, config.backend) != nullptr) {
    BackendReport report;
    report.backend = config.backend;
    report.configured = true;
    const auto library = registry->library(PluginKind::kBackend, config.backend);
    report.trouble = library ? "its description is missing" : library.error().message;
    report.compiler_trouble = "no query: the plugin is missing";
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<DoctorFinding> findings_of(const BackendReport& report) {
  const DoctorFinding::Kind bad =
      report.configured ? DoctorFinding::kMissing : DoctorFinding::kNote;
  std::vector<DoctorFinding> findings;
  if (!report.trouble.empty()) {
    findings.push_back(
        {report.backend + " devices", bad, "none: " + report.trouble, report.driver_help});
  } else {
    const std::string module = text_in(report.probe, "module");
    findings.push_back(
        {report.backend + " driver", DoctorFinding::kGood,
         text_in(report.probe, "driver") + (module.empty() ? "" : ", kernel module " + module)});
  }
  findings.push_back({report.backend + " compiler",
                      report.compiler_trouble.empty() ? DoctorFinding::kGood : bad,
                      report.compiler_trouble.empty() ? report.compiler : report.compiler_trouble,
                      report.compiler_trouble.empty() ? "" : report.compiler_help});
  const auto add_tool = [&](const char* name, const DeviceTool& tool, const std::string& without) {
    if (tool.parameter.empty()) return;
    const bool found = !tool.path.empty();
    findings.push_back({report.backend + " " + name,
                        found ? DoctorFinding::kGood : DoctorFinding::kNote,
                        found ? tool.path : without, found ? "" : tool.help});
  };
  add_tool("sanitizer", report.sanitizer,
           "none, so the tool sanitize has no answer on " + report.backend);
  add_tool("counters", report.counters, "none, so profiles have no hardware counters");
  for (const std::string& refused : report.refused_counters)
    findings.back().details.push_back("not taken: " + refused);
  std::size_t count = 0;
  if (const Value* devices = report.probe.find("devices")) {
    count = devices->as_array().size();
    for (const Value& device : devices->as_array())
      findings.push_back(device_finding(report, device));
  }
  for (const std::int64_t index : report.wanted) {
    if (!report.trouble.empty() || index < static_cast<std::int64_t>(count)) continue;
    findings.push_back(
        {report.backend + " device " + std::to_string(index), DoctorFinding::kMissing,
         "a configured device does not exist: the driver reports " + std::to_string(count),
         "choose other devices: " + report.backend + ".devices"});
  }
  return findings;
}

Value value_of(const BackendReport& report) {
  const Value* devices = report.probe.find("devices");
  return Value::map({{"backend", report.backend},
                     {"configured", report.configured},
                     {"driver", text_in(report.probe, "driver")},
                     {"module", text_in(report.probe, "module")},
                     {"trouble", report.trouble},
                     {"compiler", report.compiler},
                     {"compiler_trouble", report.compiler_trouble},
                     {"sanitizer", report.sanitizer.path},
                     {"counters", report.counters.path},
                     {"counters_not_taken", texts_value(report.refused_counters)},
                     {"devices", devices != nullptr ? *devices : Value::array()}});
}

int answer_question(const std::string& question, const std::string& library) {
  const auto answer = [&]() -> Result<Value> {
    HONE_ASSIGN(const auto backend, Backend::load(library));
    if (question == "devices") return tell_devices(*backend);
    const std::string given = check_config_json();
    HONE_ASSIGN(const Value asked, from_json(given.empty() ? "{}" : given));
    return tell_compiler(*backend, asked);
  }();
  report_check(answer ? CheckResult{CheckOutcome::kPassed, to_json(*answer)}
                      : CheckResult{CheckOutcome::kFailed, answer.error().message});
  return answer ? kExitOk : kExitNo;
}

}  // namespace hone
