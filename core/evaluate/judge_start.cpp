// The judge's program, its first requests, and the facts that it reports.
#include "evaluate/judge_start.hpp"

#include <utility>

#include "base/files.hpp"
#include "base/log.hpp"
#include "judge/known_answer.hpp"
#include "judge/workbench.hpp"

namespace hone {
namespace {

constexpr double kOutputSeconds = 0.5;  // wait for the end of a judge that has failed (s)

/// An artifact of the judge's own device code.
Result<std::string> built_of_ours(BuildPool& builds, const std::string& language, const char* name,
                                  std::string_view source, std::vector<std::string> kernels) {
  BuildRequest build;
  build.language = language;
  build.name = name;
  build.text = std::string(source);
  build.entries = std::move(kernels);
  HONE_ASSIGN(const auto built, builds.build(build));
  if (!built->ok)
    return internal_error(std::string(name) + " does not build: " + built->diagnostics);
  return built->artifact;
}

/// The backend's own text, if its language is another.
std::string_view text_of(const std::string& own, std::string_view usual) {
  return own.empty() ? usual : std::string_view(own);
}

/// Sends the judge's own device code.
Status equip(JudgeClient& judge, BuildPool& builds, const EvaluatorOptions& options,
             const Value& facts) {
  HONE_TRY(builds.use_device(facts));
  HONE_ASSIGN(const std::string harness, built_harness(builds, options));
  HONE_ASSIGN(
      const std::string known,
      built_of_ours(builds, options.language, "known_answer.cu",
                    text_of(options.known_answer, known_answer_source()), known_answer_kernels()));
  HONE_ASSIGN(const UniqueFd harness_file, memory_file("harness.cu", harness));
  HONE_ASSIGN(const UniqueFd known_file, memory_file("known_answer.cu", known));
  return judge.equip(harness_file.get(), known_file.get());
}

Result<Value> open(JudgeClient& judge, BuildPool& builds, const EvaluatorOptions& options) {
  HONE_ASSIGN(Value facts, judge.open());
  if (options.device_code) HONE_TRY(equip(judge, builds, options, facts));
  return facts;
}

}  // namespace

Result<std::string> built_harness(BuildPool& builds, const EvaluatorOptions& options) {
  return built_of_ours(builds, options.language, "harness.cu",
                       text_of(options.harness, harness_source()), harness_kernels());
}

Result<Value> start_judge(JudgeClient& judge, Launcher& launcher, BuildPool& builds,
                          const EvaluatorOptions& options, const DeviceSpec& spec) {
  const std::string device = "device " + std::to_string(spec.index);
  log_debug("evaluate", device + ": starting a judge");
  SpawnRequest spawn;
  spawn.jail = Jail::kJudge;
  spawn.label = "judge " + std::to_string(spec.index);
  spawn.program = options.libexec / "hone-judge";
  spawn.arguments = {options.backend_library.string(), std::to_string(spec.index),
                     std::to_string(spec.judge_cpu), cores_text(spec.cores)};
  if (const Status started = judge.start(launcher, std::move(spawn)); !started)
    return started.error().in(device);
  Result<Value> facts = open(judge, builds, options);
  if (facts) return facts;
  // A judge that could not open its device has printed the reason before it ended.
  const std::string output = judge.last_output(kOutputSeconds);
  judge.stop();
  return unavailable(device + ": " + (output.empty() ? facts.error().message : output));
}

Status expect_like_devices(const std::vector<Value>& facts, const EvaluatorOptions& options) {
  const auto number = [&](std::size_t i) { return std::to_string(options.devices[i].index); };
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const std::string first = device_name(facts.front()), name = device_name(facts[i]);
    if (name != first) {
      return failed_precondition(
          options.backend + ".devices: device " + number(i) + " is " + name + ", and device " +
          number(0) + " is " + first +
          "; expected the same name and driver; start one server for each kind of device");
    }
    const bool runs_modules = options.toolchains.count("python") != 0;
    if (facts.size() > 1 && runs_modules && options.module_place == "device" &&
        !other_nodes_of(facts[i])) {
      return failed_precondition(
          options.backend + ".devices: found " + std::to_string(facts.size()) +
          " devices; expected one, because the device nodes of device " + number(i) +
          " are unknown, so modules could use other devices; start one server for each device, "
          "each in its own container");
    }
  }
  return {};
}

std::optional<std::vector<std::string>> other_nodes_of(const Value& facts) {
  const Value* found = facts.find("other_nodes");
  if (found == nullptr || !found->is_array()) return std::nullopt;
  std::vector<std::string> nodes;
  for (const Value& node : found->as_array()) {
    if (node.is_string()) nodes.push_back(node.as_string());
  }
  return nodes;
}

std::string device_name(const Value& facts) {
  const Value* name = facts.find("name");
  const Value* driver = facts.find("driver");
  if (name == nullptr || driver == nullptr) return "unknown device";
  return name->as_string() + (driver->as_string().empty() ? "" : ", driver " + driver->as_string());
}

double bytes_per_second_max(const Value& facts, const Task& task, const EvaluatorOptions& options) {
  const Value* most = facts.find("bytes_per_second_max");
  const Value* units = facts.find("multiprocessors");
  if (most == nullptr || !most->is_number() || most->as_double() <= 0) return 1e300;
  if (options.device_code || units == nullptr || !units->is_int()) return most->as_double();
  return most->as_double() / static_cast<double>(units->as_int()) * task.threads;
}

std::string cores_text(const std::vector<int>& cores) {
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

}  // namespace hone
