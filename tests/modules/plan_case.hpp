// A court for recorded plans: modules of the layer "linear" whose plans a test makes, judged by the real evaluator. The recording
// process is replaced by recorder/record_module.py, so that no torch for CUDA is needed; reference and judge are real.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/plugin/msgpack.hpp"
#include "hone/recorded_plan_writer.hpp"
#include "modules/device_case.hpp"
#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {

inline const fs::path kPlanAttacks = test::source_dir() / "tests/adversarial/plans";
inline constexpr std::uint64_t kNoteBytes = 16384;  ///< private memory of the layer's kernels
/// At least the calls of the checks of the layer. Its timed rounds have more.
inline constexpr const char* kCallsOfChecks = "8";

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

inline std::string hexadecimal(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

/// The names of the attacks with this suffix.
inline std::set<std::string> plan_attack_files(const std::string& suffix) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kPlanAttacks)) {
    if (entry.path().extension() == suffix) names.insert(entry.path().stem().string());
  }
  return names;
}

/// hone's programs and scripts in a folder of their own, with the recorder of the tests. Hard links and copies, because a
/// sandbox shows no target of a symbolic link.
class FolderWithRecorder {
 public:
  FolderWithRecorder() {
    fs::create_directories(folder_ / "share");
    fs::create_directories(folder_ / "libexec");
    for (const auto& entry : fs::directory_iterator(build_dir() / "libexec")) {
      if (entry.is_regular_file())
        fs::create_hard_link(entry.path(), folder_ / "libexec" / entry.path().filename());
    }
    fs::copy(build_dir() / "libexec/record", folder_ / "libexec/record");
    fs::copy(build_dir() / "share/module", folder_ / "share/module", fs::copy_options::recursive);
    fs::copy(kHere / "recorder/record_module.py", folder_ / "share/module/builder/record_module.py",
             fs::copy_options::overwrite_existing);
  }
  ~FolderWithRecorder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  FolderWithRecorder(const FolderWithRecorder&) = delete;
  FolderWithRecorder& operator=(const FolderWithRecorder&) = delete;

  fs::path libexec() const { return folder_ / "libexec"; }

 private:
  const fs::path folder_ = build_dir() / "tests" / ("plans-" + std::to_string(::getpid()));
};

inline std::string tested_architecture() {
  const char* named = std::getenv("HONE_PLAN_ARCHITECTURE");
  return named != nullptr ? named : "sm_90a";
}

/// All kernels of tests/adversarial/plans, as one image. The kernel of honest.cu is called honest.
struct PlanKernels {
  std::string image;
  std::map<std::string, std::string> symbols;
};
inline const PlanKernels& plan_kernels_of_attacks() {
  static const PlanKernels kernels = [] {
    const std::set<std::string> names = plan_attack_files(".cu");
    std::string text = text_of_file(kPlanAttacks / "layer.cuh");
    Value entries = Value::array();
    for (const std::string& name : names) {
      std::string one = text_of_file(kPlanAttacks / (name + ".cu"));
      one = replaced(one, "#include \"layer.cuh\"\n", "");
      one = replaced(one, "@CALLS@", kCallsOfChecks);
      text += "#define layer " + name + "\n" + one + "#undef layer\n";
      entries.push(name);
    }
    PlanKernels made;
    const auto backend = Backend::load(device_options().backend_library);
    EXPECT_TRUE(backend) << backend.error().message;
    if (!backend) return made;
    const Value asked =
        Value::map({{"sources", Value::array({Value::map({{"name", "plans.cu"}, {"text", text}})})},
                    {"language", "cuda"},
                    {"entries", std::move(entries)},
                    {"options", Value::map({{"compiler", ""},
                                            {"flags", Value::array()},
                                            {"include", Value::array()},
                                            {"threads", 1},
                                            {"architecture", tested_architecture()},
                                            {"seconds", 60.0},
                                            {"version", false}})}});
    const TemporaryFolder folder;  // a compiler may write to its working folder
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    const auto built = (*backend)->build(asked);
    fs::current_path(before);
    EXPECT_TRUE(built) << built.error().message;
    if (!built) return made;
    const Value* artifact = built->find("artifact");
    EXPECT_TRUE(artifact != nullptr && artifact->is_bytes() && !artifact->as_bytes().empty())
        << to_json(*built->find("diagnostics"));
    const auto content = plugin::from_msgpack(std::string_view(artifact->as_bytes()));
    made.image = content.at("image").as_bytes();
    for (const auto& [name, symbol] : content.at("entries").as_map())
      made.symbols[name] = symbol.as_string();
    return made;
  }();
  return kernels;
}

enum PlanMemory : std::uint32_t { kPlanX, kPlanParameters, kPlanOut, kPlanNote };
inline constexpr std::uint64_t kPlanOutBytes = 8 * 16 * 4, kPlanParameterBytes = (272 + 16) * 4;

/// One launch of a kernel of tests/adversarial/plans: kernel(x, parameters, out, note). The note is private memory, which stays between
/// calls.
inline recorded::Plan plan_of(const std::string& kernel) {
  using recorded::MemoryKind;
  const PlanKernels& kernels = plan_kernels_of_attacks();
  recorded::Plan plan;
  plan.architecture = tested_architecture();
  plan.images = {{kernels.image, ""}};
  const auto symbol = kernels.symbols.find(kernel);
  EXPECT_NE(symbol, kernels.symbols.end()) << kernel;
  plan.kernels = {{0, symbol != kernels.symbols.end() ? symbol->second : "", 0, -1, false}};
  plan.memories = {{MemoryKind::kTask, kPlanOutBytes, 0, 0, "", 0, 0},
                   {MemoryKind::kTask, kPlanParameterBytes, 1, 0, "", 0, 0},
                   {MemoryKind::kTask, kPlanOutBytes, 2, 0, "", 0, 0},
                   {MemoryKind::kPrivate, kNoteBytes, 0, 0, "", 0, 0}};
  recorded::Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {128, 1, 1};
  launch.parameters.assign(32, '\0');
  launch.addresses = {
      {0, {kPlanX, 0}}, {8, {kPlanParameters, 0}}, {16, {kPlanOut, 0}}, {24, {kPlanNote, 0}}};
  plan.run = {{0, launch}};
  return plan;
}

inline std::string with_plan(const std::string& python, const recorded::Plan& plan) {
  return python + "\n# plan: " + hexadecimal(recorded::write_plan(plan)) + "\n";
}

inline EvaluatorOptions plan_options(const std::string& modules) {
  EvaluatorOptions options = device_options();
  options.modules = modules;
  static const FolderWithRecorder folder;
  options.libexec = folder.libexec();
  options.build_memory_mb = on_cuda() ? 2048 : 512;
  options.evaluation_seconds = 60;
  return options;
}

/// The machine with this setting `modules` ("plan", "auto") and without some defences: one at a time, kept between tests.
inline Machine* plan_machine(const std::string& modules, const std::vector<std::string>& off) {
  static std::unique_ptr<Machine> sitting;
  static std::pair<std::string, std::vector<std::string>> sitting_is;
  if (sitting != nullptr && sitting_is == std::pair(modules, off)) return sitting.get();
  sitting.reset();
  EvaluatorOptions options = plan_options(modules);
  const auto defences = Defences::without(off);
  EXPECT_TRUE(defences.ok());
  options.measure.defences = *defences;
  const Status python = use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options);
  EXPECT_TRUE(python.ok()) << python.error().message;
  auto machine = Machine::start(std::move(options));
  EXPECT_TRUE(machine.ok()) << machine.error().message;
  if (!machine) return nullptr;
  sitting = std::move(*machine);
  sitting_is = {modules, off};
  return sitting.get();
}

/// The layer "linear", whose baseline has the plan of honest.cu.
inline std::shared_ptr<const Task> plan_task(const std::string& own_kernels = "optional") {
  static std::map<std::string, std::shared_ptr<const Task>> tasks;
  auto& task = tasks[own_kernels];
  if (task != nullptr) return task;
  auto made = module_task("linear");
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return nullptr;
  made->own_kernels = own_kernels;
  std::string& baseline = made->backends.at("cuda").baseline.text;
  baseline = with_plan(baseline, plan_of("honest"));
  task = std::make_shared<const Task>(std::move(*made));
  return task;
}

/// The verdict on a source that the recorder of the tests records.
inline Result<Verdict> verdict_on_plan(Machine* machine, const std::string& source,
                                       const std::string& own_kernels = "optional") {
  static std::uint64_t seed = 100;
  if (machine == nullptr) return unavailable("no machine");
  return machine->judge(plan_task(own_kernels), source, ++seed, "python", "cuda");
}

}  // namespace hone::test
