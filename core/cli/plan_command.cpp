// `hone plan`: prints the device work of a module, recorded without a device.
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "app/parts.hpp"
#include "app/record_plan.hpp"
#include "base/files.hpp"
#include "base/readable.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "hone/recorded_plan_reader.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_arguments.hpp"
#include "integrations/kernelbench/run_folder.hpp"

namespace hone {
namespace {

using recorded::MemoryKind;
using recorded::Plan;

constexpr std::size_t kSourceBytesMax = 4u << 20;
constexpr std::size_t kNameWidth = 60;

/// "scale(float*, int)" for a mangled name.
std::string readable_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::string shape_text(const std::array<std::uint32_t, 3>& shape) {
  std::string text = std::to_string(shape[0]);
  if (shape[1] > 1 || shape[2] > 1) text += "×" + std::to_string(shape[1]);
  if (shape[2] > 1) text += "×" + std::to_string(shape[2]);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes == 0) return "0 B";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return short_number(size) + " " + kUnits[unit];
}

/// The memory that a step refers to: "task 0" or "private 3".
std::string memory_text(const Plan& plan, const recorded::Place& place) {
  const recorded::Memory& memory = plan.memories[place.memory];
  switch (memory.kind) {
    case MemoryKind::kTask:
      return "task " + std::to_string(memory.argument);
    case MemoryKind::kGlobal:
      return memory.name;
    case MemoryKind::kPrivate:
      break;
  }
  return "private " + std::to_string(place.memory);
}

/// One step as a row of the table, and as JSON.
struct StepText {
  std::string what, name, grid, block, details;
  Value json = Value::map();
};

class StepTexts {
 public:
  explicit StepTexts(const Plan& plan) : plan_(plan) {}

  StepText text(const recorded::Step& step) const {
    StepText text = std::visit([this](const auto& work) { return of(work); }, step.work);
    text.json.set("do", text.what);
    text.json.set("stream", std::int64_t{step.stream});
    return text;
  }

 private:
  StepText of(const recorded::Launch& launch) const {
    const recorded::Kernel& kernel = plan_.kernels[launch.kernel];
    const std::string& library = plan_.images[kernel.image].library;
    StepText text{"launch",
                  readable_name(kernel.name),
                  shape_text(launch.grid),
                  shape_text(launch.block),
                  memories(launch.addresses),
                  Value::map()};
    if (launch.shared_bytes > 0) text.details += "; shared " + size_text(launch.shared_bytes);
    if (launch.cluster[0] > 0) text.details += "; cluster " + shape_text(launch.cluster);
    if (launch.cooperative) text.details += "; cooperative";
    if (!library.empty()) text.details += "; " + library;
    text.json = Value::map({{"kernel", kernel.name},
                            {"library", library},
                            {"grid", numbers(launch.grid)},
                            {"block", numbers(launch.block)},
                            {"cluster", numbers(launch.cluster)},
                            {"shared_bytes", std::int64_t{launch.shared_bytes}},
                            {"cooperative", launch.cooperative}});
    return text;
  }
  StepText of(const recorded::Operator& call) const {
    StepText text{"operator", "aten." + call.name, "", "", "", Value::map({{"name", call.name}})};
    for (const recorded::Tensor& tensor : call.tensors) {
      std::string sizes;
      for (const std::int64_t size : tensor.sizes)
        sizes += (sizes.empty() ? "" : "×") + std::to_string(size);
      text.details += (text.details.empty() ? "" : ", ") + tensor.dtype + " " + sizes;
    }
    return text;
  }
  StepText of(const recorded::Copy& copy) const {
    const std::uint64_t bytes = copy.bytes * copy.rows;
    return {"copy",
            "",
            "",
            "",
            memory_text(plan_, copy.from) + " to " + memory_text(plan_, copy.to) + ", " +
                size_text(bytes),
            Value::map({{"bytes", static_cast<std::int64_t>(bytes)}})};
  }
  StepText of(const recorded::Write& write) const {
    return {"write",
            "",
            "",
            "",
            "to " + memory_text(plan_, write.to) + ", " + size_text(write.bytes.size()),
            Value::map({{"bytes", static_cast<std::int64_t>(write.bytes.size())}})};
  }
  StepText of(const recorded::Fill& fill) const {
    const std::uint64_t bytes = fill.count * fill.width * fill.rows;
    return {"fill",
            "",
            "",
            "",
            memory_text(plan_, fill.to) + ", " + size_text(bytes),
            Value::map({{"bytes", static_cast<std::int64_t>(bytes)}})};
  }
  StepText of(const recorded::Record& record) const {
    return {"record",
            "",
            "",
            "",
            "event " + std::to_string(record.event),
            Value::map({{"event", std::int64_t{record.event}}})};
  }
  StepText of(const recorded::Wait& wait) const {
    return {"wait",
            "",
            "",
            "",
            "for event " + std::to_string(wait.event),
            Value::map({{"event", std::int64_t{wait.event}}})};
  }

  std::string memories(const std::vector<recorded::Relocation>& addresses) const {
    std::vector<std::string> texts;
    for (const recorded::Relocation& one : addresses)
      texts.push_back(memory_text(plan_, one.place));
    return joined(texts);
  }
  static Value numbers(const std::array<std::uint32_t, 3>& shape) {
    return Value::array({std::int64_t{shape[0]}, std::int64_t{shape[1]}, std::int64_t{shape[2]}});
  }

  const Plan& plan_;
};

std::uint64_t private_bytes(const Plan& plan) {
  std::uint64_t total = 0;
  for (const recorded::Memory& memory : plan.memories)
    total += memory.kind == MemoryKind::kPrivate ? memory.bytes : 0;
  return total;
}

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
            "hone plan relu.plan                             # a saved plan",
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
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    if (is_saved()) {
      const auto bytes = read_file(task_, kPlanBytesMax);
      return bytes ? report(terminal, *bytes) : terminal.fail(bytes.error());
    }
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (const auto level = parse_level(task_))
      return record_level(terminal, *loaded, level->first, level->second);
    const auto recording = record(terminal, *loaded);
    if (!recording) {
      const bool is_unknown = recording.error().code == Code::kNotFound;
      return terminal.fail(without_verbs(recording.error()),
                           is_unknown ? "all tasks: hone tasks" : next_step(recording.error()));
    }
    if (recording->plan == nullptr) return report_problem(terminal, recording->problem);
    return report(terminal, recording->plan->bytes.joined());
  }

 private:
  bool is_saved() const { return file_.empty() && task_.ends_with(".plan"); }

  Result<Recording> record(Terminal& terminal, const LoadedConfig& loaded) const {
    std::string source;
    if (!file_.empty()) {
      HONE_ASSIGN(source, read_text(file_, kSourceBytesMax));
      if (source.empty()) return invalid_argument(file_ + ": the file is empty");
    }
    HONE_ASSIGN(const auto recorder, PlanRecorder::start(loaded, show_steps(terminal)));
    show_steps(terminal)("recording");
    auto recording = recorder->record(task_, source);
    terminal.clear_status();
    return recording;
  }

  /// Records the baselines of a level, or the generations of a folder. Prints the number of plans, and the reasons of
  /// those without one.
  int record_level(Terminal& terminal, const LoadedConfig& loaded, const std::string& wanted,
                   std::int64_t level) const {
    const auto dataset = kernelbench_dataset(loaded.config, wanted);
    if (!dataset) return terminal.fail(dataset.error());
    auto recorder = PlanRecorder::start(loaded, show_steps(terminal));
    if (!recorder) return terminal.fail(recorder.error(), next_step(recorder.error()));
    const auto problems = problems_of((*recorder)->catalog(), *dataset, level);
    if (!problems) return terminal.fail(problems.error());
    const auto sources = sources_of(*problems, level);
    if (!sources) return terminal.fail(sources.error());
    LevelPlans found;
    for (const LevelSource& one : *sources) {
      terminal.status(std::to_string(found.total) + "/" + std::to_string(sources->size()) + "  " +
                      one.name);
      const auto recording = (*recorder)->record(one.task, one.text);
      const std::string problem = recording ? recording->problem : recording.error().message;
      const std::size_t bytes = problem.empty() ? recording->plan->bytes.size() : 0;
      found.add(problem);
      report_source(terminal, one, problem, bytes);
    }
    terminal.clear_status();
    report_level(terminal, found);
    return kExitOk;
  }

  struct LevelSource {
    std::string task, name, text;
  };
  struct LevelPlans {
    std::size_t total = 0, whole = 0;
    std::map<std::string, std::size_t>
        reasons;  ///< by reason: the number of sources without a plan

    void add(const std::string& problem) {
      ++total;
      problem.empty() ? ++whole : ++reasons[problem.substr(0, problem.find(" (submission.py"))];
    }
  };

  Result<std::vector<LevelSource>> sources_of(const std::vector<Problem>& problems,
                                              std::int64_t level) const {
    std::vector<LevelSource> sources;
    if (file_.empty()) {
      for (const Problem& problem : problems)
        sources.push_back({problem.task_id, problem.task_id, ""});
      return sources;
    }
    HONE_ASSIGN(const Generations generations, list_generations(file_, level));
    for (const Generation& one : generations.of_level) {
      HONE_ASSIGN(const Problem* problem, problem_of(problems, level, one));
      HONE_ASSIGN(std::string text, read_generation(one));
      sources.push_back({problem->task_id, one.file.filename().string(), std::move(text)});
    }
    return sources;
  }

  void report_source(Terminal& terminal, const LevelSource& one, const std::string& problem,
                     std::size_t bytes) const {
    if (json_) {
      terminal.json(Value::map({{"type", "plan"},
                                {"task", one.task},
                                {"name", one.name},
                                {"whole", problem.empty()},
                                {"problem", problem},
                                {"bytes", static_cast<std::int64_t>(bytes)}}));
    } else if (!problem.empty()) {
      terminal.line(one.name + ": " + problem);
    }
  }

  void report_level(Terminal& terminal, const LevelPlans& found) const {
    if (json_) {
      Value reasons = Value::map();
      for (const auto& [reason, count] : found.reasons)
        reasons.set(reason, static_cast<std::int64_t>(count));
      return terminal.json(Value::map({{"type", "summary"},
                                       {"total", static_cast<std::int64_t>(found.total)},
                                       {"whole", static_cast<std::int64_t>(found.whole)},
                                       {"reasons", std::move(reasons)}}));
    }
    std::vector<Row> rows;
    for (const auto& [reason, count] : found.reasons)
      rows.push_back({reason, {std::to_string(count), Colour::kPlain, true}});
    terminal.line(std::to_string(found.whole) + " of " + std::to_string(found.total) +
                  " have a plan");
    if (!rows.empty()) terminal.table({"reason", "without a plan"}, rows);
  }

  int report_problem(Terminal& terminal, const std::string& problem) const {
    if (json_) {
      terminal.json(Value::map({{"whole", false}, {"problem", problem}}));
    } else {
      terminal.line("no plan: " + problem);
      terminal.line("hone judges it in a process of its own, or rejects it with modules: plan.");
    }
    return kExitNo;
  }

  int report(Terminal& terminal, const std::string& bytes) const {
    if (!save_.empty()) {
      if (const Status saved = write_file(save_, bytes); !saved)
        return terminal.fail(saved.error());
    }
    try {
      return report(terminal, recorded::read_plan(bytes), bytes.size());
    } catch (const plugin::Failure& failure) {
      return terminal.fail(invalid_argument(task_ + ": " + failure.what()));
    }
  }

  int report(Terminal& terminal, const Plan& plan, std::size_t bytes) const {
    const StepTexts texts(plan);
    if (json_) {
      const auto steps = [&](const std::vector<recorded::Step>& all) {
        Value list = Value::array();
        for (const recorded::Step& step : all) list.push(texts.text(step).json);
        return list;
      };
      terminal.json(Value::map({{"whole", true},
                                {"architecture", plan.architecture},
                                {"bytes", static_cast<std::int64_t>(bytes)},
                                {"private_bytes", static_cast<std::int64_t>(private_bytes(plan))},
                                {"streams", std::int64_t{plan.streams}},
                                {"setup", steps(plan.setup)},
                                {"run", steps(plan.run)}}));
      return kExitOk;
    }
    if (!plan.setup.empty())
      table(terminal, texts, "setup, once when the plan is loaded:", plan.setup);
    table(terminal, texts, "at every call:", plan.run);
    terminal.line();
    terminal.line(plan.architecture + ", " + size_text(bytes) + ", " +
                  counted_text(static_cast<std::int64_t>(plan.images.size()), "image") +
                  " of code, " + size_text(private_bytes(plan)) + " of private memory, " +
                  counted_text(static_cast<std::int64_t>(plan.streams), "stream"));
    return kExitOk;
  }

  static void table(Terminal& terminal, const StepTexts& texts, const std::string& title,
                    const std::vector<recorded::Step>& steps) {
    std::vector<Row> rows;
    for (const recorded::Step& step : steps) {
      const StepText text = texts.text(step);
      rows.push_back({{std::to_string(rows.size()), Colour::kDim, true},
                      text.what,
                      {cut_end(text.name, kNameWidth), Colour::kBold},
                      text.grid,
                      text.block,
                      cut_end(text.details, kNameWidth)});
    }
    terminal.line(title);
    terminal.table({"#", "step", "name", "grid", "block", "memory"}, rows);
  }

  std::string task_, file_, save_;
  ConfigOptions config_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace hone
