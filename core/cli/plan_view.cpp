// One row for each step of a recorded plan.
#include "cli/plan_view.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/readable.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

using recorded::MemoryKind;
using recorded::Plan;

constexpr std::size_t kNameWidth = 60;

std::string shape_text(const std::array<std::uint32_t, 3>& shape) {
  std::string text = std::to_string(shape[0]);
  if (shape[1] > 1 || shape[2] > 1) text += "×" + std::to_string(shape[1]);
  if (shape[2] > 1) text += "×" + std::to_string(shape[2]);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
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
    if (step.tuned != 0) add_configuration(step, text);
    return text;
  }

 private:
  void add_configuration(const recorded::Step& step, StepText& text) const {
    const std::size_t count = plan_.tuned[step.tuned - 1].configurations.size();
    const std::string kernel =
        plan_.tuned.size() > 1 ? "kernel " + std::to_string(step.tuned - 1) + ", " : "";
    text.details = kernel + "configuration " + std::to_string(step.configuration + 1) + " of " +
                   std::to_string(count) + "; " + text.details;
    text.json.set("tuned", std::int64_t{step.tuned} - 1);
    text.json.set("configuration", std::int64_t{step.configuration} + 1);
  }
  StepText of(const recorded::Launch& launch) const {
    const recorded::Kernel& kernel = plan_.kernels[launch.kernel];
    const std::string& library = plan_.images[kernel.image].library;
    StepText text{"launch",
                  readable_name(kernel.name),
                  shape_text(launch.grid),
                  shape_text(launch.block),
                  "",
                  Value::map()};
    if (launch.shared_bytes > 0) text.details += "shared " + size_text(launch.shared_bytes) + "; ";
    if (launch.cluster[0] > 0) text.details += "cluster " + shape_text(launch.cluster) + "; ";
    if (launch.cooperative) text.details += "cooperative; ";
    if (!library.empty()) text.details += library + "; ";
    text.details += memories(launch.addresses);
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
  /// A step that is neither a kernel nor an operator: it has no name and no grid.
  static StepText without_name(const char* what, std::string details, Value json) {
    return {what, "", "", "", std::move(details), std::move(json)};
  }
  StepText of(const recorded::Copy& copy) const {
    const std::uint64_t bytes = copy.bytes * copy.rows;
    return without_name("copy",
                        memory_text(plan_, copy.from) + " to " + memory_text(plan_, copy.to) +
                            ", " + size_text(bytes),
                        Value::map({{"bytes", static_cast<std::int64_t>(bytes)}}));
  }
  StepText of(const recorded::Write& write) const {
    return without_name("write",
                        "to " + memory_text(plan_, write.to) + ", " + size_text(write.bytes.size()),
                        Value::map({{"bytes", static_cast<std::int64_t>(write.bytes.size())}}));
  }
  StepText of(const recorded::Fill& fill) const {
    const std::uint64_t bytes = fill.count * fill.width * fill.rows;
    return without_name("fill", memory_text(plan_, fill.to) + ", " + size_text(bytes),
                        Value::map({{"bytes", static_cast<std::int64_t>(bytes)}}));
  }
  StepText of(const recorded::Record& record) const {
    return without_name("record", "event " + std::to_string(record.event),
                        Value::map({{"event", std::int64_t{record.event}}}));
  }
  StepText of(const recorded::Wait& wait) const {
    return without_name("wait", "for event " + std::to_string(wait.event),
                        Value::map({{"event", std::int64_t{wait.event}}}));
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

void print_steps(Terminal& terminal, const StepTexts& texts, const std::string& title,
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
  terminal.table({"#", "step", "name", "grid", "block", "details"}, rows);
}

void print_tuned(Terminal& terminal, const Plan& plan) {
  std::vector<Row> rows, left_out;
  for (std::size_t i = 0; i < plan.tuned.size(); ++i) {
    const recorded::Tuned& tuned = plan.tuned[i];
    const Cell kernel{std::to_string(i), Colour::kDim, true};
    const std::string whole_name = readable_name(recorded::tuned_kernel_name(plan, i));
    const Cell name{cut_end(whole_name, kNameWidth), Colour::kBold};
    std::size_t number = 0;
    for (const std::string& parameters : tuned.configurations)
      rows.push_back(
          {kernel, name, tuned.key, {std::to_string(++number), Colour::kPlain, true}, parameters});
    for (const recorded::Tuned::LeftOut& one : tuned.left_out)
      left_out.push_back({kernel, name, one.configuration, one.reason});
  }
  terminal.line();
  terminal.line(counted_text(static_cast<std::int64_t>(plan.tuned.size()), "autotuned kernel") +
                "; the device will choose a configuration of each:");
  terminal.table({"kernel", "name", "key", "configuration", "parameters"}, rows);
  if (left_out.empty()) return;
  terminal.line();
  terminal.line("configurations that cannot be used:");
  terminal.table({"kernel", "name", "parameters", "reason"}, left_out);
}

Value tuned_value(const Plan& plan) {
  Value list = Value::array();
  for (std::size_t i = 0; i < plan.tuned.size(); ++i) {
    Value configurations = Value::array(), left_out = Value::array();
    for (const std::string& parameters : plan.tuned[i].configurations)
      configurations.push(parameters);
    for (const recorded::Tuned::LeftOut& one : plan.tuned[i].left_out)
      left_out.push(Value::map({{"configuration", one.configuration}, {"reason", one.reason}}));
    list.push(Value::map({{"kernel", recorded::tuned_kernel_name(plan, i)},
                          {"key", plan.tuned[i].key},
                          {"configurations", std::move(configurations)},
                          {"left_out", std::move(left_out)}}));
  }
  return list;
}

}  // namespace

std::string readable_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

Value plan_value(const recorded::Plan& plan, std::size_t bytes) {
  const StepTexts texts(plan);
  const auto steps = [&](const std::vector<recorded::Step>& all) {
    Value list = Value::array();
    for (const recorded::Step& step : all) list.push(texts.text(step).json);
    return list;
  };
  return Value::map({{"whole", true},
                     {"architecture", plan.architecture},
                     {"bytes", static_cast<std::int64_t>(bytes)},
                     {"private_bytes", static_cast<std::int64_t>(private_bytes(plan))},
                     {"streams", std::int64_t{plan.streams}},
                     {"tuned", tuned_value(plan)},
                     {"setup", steps(plan.setup)},
                     {"run", steps(plan.run)}});
}

void print_plan(Terminal& terminal, const recorded::Plan& plan, std::size_t bytes) {
  const StepTexts texts(plan);
  if (!plan.setup.empty())
    print_steps(terminal, texts, "setup, once when the plan is loaded:", plan.setup);
  print_steps(terminal, texts, "at every call:", plan.run);
  terminal.line();
  terminal.line(plan.architecture + ", " + size_text(bytes) + ", " +
                counted_text(static_cast<std::int64_t>(plan.images.size()), "image") +
                " of code, " + size_text(private_bytes(plan)) + " of private memory, " +
                counted_text(static_cast<std::int64_t>(plan.streams), "stream"));
  if (!plan.tuned.empty()) print_tuned(terminal, plan);
}

}  // namespace hone
