// `hone plan`: prints the device work of a module, recorded without a device.
#include <algorithm>
#include <string_view>

#include "app/disassemble_plan.hpp"
#include "app/parts.hpp"
#include "app/record_plan.hpp"
#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/plan_sass.hpp"
#include "cli/plan_view.hpp"
#include "integrations/kernelbench/record_level.hpp"
#include "integrations/kernelbench/run_arguments.hpp"

namespace hone {
namespace {

constexpr std::size_t kSourceBytesMax = 4u << 20;
constexpr std::string_view kPlanSuffix = ".plan";

class PlanCommand : public Command {
 public:
  std::string name() const override { return "plan"; }
  std::string summary() const override {
    return "Print the device work of a module: kernels, copies and operators, in order.";
  }
  std::vector<std::string> examples() const override {
    return {"hone plan kernelbench/level1/19 relu.py -c gpu.yaml",
            "hone plan kernelbench/level1/19 -c gpu.yaml    # the task's baseline",
            "hone plan kernelbench/level1/19 relu.py -c gpu.yaml --save relu.plan",
            "hone plan relu.plan                            # a saved plan",
            "hone plan kernelbench/level1/19 relu.py -c gpu.yaml --sass   # machine code, too",
            "hone plan kernelbench/level1 -c gpu.yaml       # the baselines of a level",
            "hone plan kernelbench/level1 runs/first -c gpu.yaml"};
  }
  void declare(OptionSet& options) override {
    options.text(
        {.name = "TASK",
         .doc = "task whose reference is a module, a KernelBench level, or a saved .plan file",
         .value = "TASK",
         .required = true},
        task_);
    options.text({.name = "FILE",
                  .doc = "source of a submission, or for a level a folder of "
                         "level_1_problem_P_sample_S_kernel.py files (default: the baseline)",
                  .value = "FILE"},
                 file_);
    options.text({.name = "--save", .doc = "also write the plan to this file", .value = "FILE"},
                 save_);
    config_.declare(options);
    options.flag(
        {.name = "--sass", .doc = "also print the machine code of all kernels except torch's"},
        sass_);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    if (const Status asked = check_arguments(); !asked) return terminal.fail(asked.error());
    // A saved plan needs a configuration only with --sass, for the interpreter.
    if (is_saved() && !sass_) return report_saved(terminal, {});
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (is_saved()) return report_saved(terminal, loaded->config);
    if (const auto level = parse_level(task_)) {
      if (sass_) return fail_for_level(terminal);
      return record_level(terminal, *loaded, {level->first, level->second, file_, json_});
    }
    std::string source;
    if (const Status read = read_source(source); !read) return terminal.fail(read.error());
    const auto recording = record(terminal, *loaded, source);
    if (!recording) {
      const bool is_unknown = recording.error().code == Code::kNotFound;
      return terminal.fail(without_verbs(recording.error()),
                           is_unknown ? "all tasks: hone tasks" : next_step(recording.error()));
    }
    if (recording->plan == nullptr) return report_problem(terminal, recording->problem);
    return report(terminal, loaded->config, recording->plan->bytes.joined());
  }

 private:
  bool is_saved() const { return task_.ends_with(kPlanSuffix); }

  Status check_arguments() const {
    if (!file_.empty() && task_.ends_with(kPlanSuffix))
      return invalid_argument(task_ + ": a saved plan takes no FILE, found " + file_);
    if (file_.ends_with(kPlanSuffix))
      return invalid_argument(
          file_ + ": expected a source, found a saved plan; show it with: hone plan " + file_);
    if (!save_.empty() && parse_level(task_))
      return invalid_argument("--save: expected a task or a saved plan, found the level " + task_);
    return {};
  }

  Status read_source(std::string& source) const {
    if (file_.empty()) return {};
    HONE_ASSIGN(source, read_text(file_, kSourceBytesMax));
    if (source.empty()) return invalid_argument(file_ + ": the file is empty");
    return {};
  }

  Result<Recording> record(Terminal& terminal, const LoadedConfig& loaded,
                           const std::string& source) const {
    HONE_ASSIGN(const auto recorder, PlanRecorder::start(loaded, show_steps(terminal)));
    show_steps(terminal)("recording");
    auto recording = recorder->record(task_, source);
    terminal.clear_status();
    return recording;
  }

  int report_problem(Terminal& terminal, const std::string& problem) const {
    if (json_) {
      terminal.json(Value::map({{"whole", false}, {"problem", problem}}));
    } else {
      terminal.line("no plan: " + problem);
      terminal.line(
          "If it builds, hone judges it in a separate process, or rejects it with modules: plan.");
    }
    return kExitNo;
  }

  int fail_for_level(Terminal& terminal) const {
    return terminal.fail(
        invalid_argument("--sass: expected a task or a saved plan, found the level " + task_),
        "name one of its tasks: hone plan " + task_ + "/1 FILE -c CONFIG --sass");
  }

  int report_saved(Terminal& terminal, const Config& config) const {
    const auto bytes = read_file(task_, kPlanBytesMax);
    return bytes ? report(terminal, config, *bytes) : terminal.fail(bytes.error());
  }

  int report(Terminal& terminal, const Config& config, const std::string& bytes) const {
    if (!save_.empty()) {
      if (const Status saved = write_file(save_, bytes); !saved)
        return terminal.fail(saved.error());
    }
    try {
      const recorded::Plan plan = recorded::read_plan(bytes);
      if (sass_) return report_with_sass(terminal, config, plan, bytes.size());
      json_ ? terminal.json(plan_value(plan, bytes.size()))
            : print_plan(terminal, plan, bytes.size());
      return kExitOk;
    } catch (const plugin::Failure& failure) {
      return terminal.fail(invalid_argument(task_ + ": " + failure.what()));
    }
  }

  /// Prints the plan even if no kernel can be disassembled.
  int report_with_sass(Terminal& terminal, const Config& config, const recorded::Plan& plan,
                       std::size_t bytes) const {
    show_steps(terminal)("disassembling");
    const auto kernels = disassemble_plan(config, plan);
    terminal.clear_status();
    if (json_) {
      Value shown = plan_value(plan, bytes);
      if (kernels) shown.set("sass", sass_value(*kernels));
      terminal.json(shown);
    } else {
      print_plan(terminal, plan, bytes);
      if (kernels) print_sass(terminal, *kernels);
    }
    if (!kernels) return terminal.fail(kernels.error().in("--sass"));
    const bool is_whole = std::all_of(kernels->begin(), kernels->end(),
                                      [](const KernelCode& one) { return one.problem.empty(); });
    return is_whole ? kExitOk : kExitNo;
  }

  std::string task_, file_, save_;
  ConfigOptions config_;
  bool sass_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace hone
