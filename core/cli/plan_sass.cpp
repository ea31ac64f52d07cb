#include "cli/plan_sass.hpp"

#include <algorithm>
#include <string_view>

#include "base/readable.hpp"
#include "base/utf8.hpp"
#include "cli/plan_view.hpp"

namespace hone {
namespace {

constexpr std::size_t kKernelNameMax = 1000, kStepsShown = 12;

/// Opcodes of the mix, in order. Opcodes of tensor cores, whose names end with "MMA", come first.
constexpr std::string_view kMixed[] = {
    "FFMA",  "FADD", "FMUL",    "DFMA",    "DADD",   "DMUL",   "HFMA2", "HADD2",
    "HMUL2", "MUFU", "UTMALDG", "UTMASTG", "UBLKCP", "LDGSTS", "LDG",   "STG",
    "RED",   "REDG", "ATOM",    "ATOMG",   "LDS",    "STS",    "LDSM",  "STSM",
    "ATOMS", "LDL",  "STL",     "SHFL",    "BAR",    "SYNCS",  "BRA",   "CALL"};

/// The demangled name, shortened because it can be far longer than the name in the image.
std::string kernel_name(const KernelCode& kernel) {
  return cut_end(readable_name(kernel.name), kKernelNameMax);
}

std::string facts_text(const KernelCode& kernel) {
  return joined({counted_text(kernel.registers, "register"),
                 std::to_string(kernel.shared_bytes) + " B static shared memory",
                 std::to_string(kernel.local_bytes) + " B local memory",
                 counted_text(kernel.code.instructions, "instruction")});
}

/// "steps 0, 3": the steps of a call that launch the kernel.
std::string steps_text(const std::vector<std::uint32_t>& steps) {
  if (steps.empty()) return "setup";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(steps.size(), kStepsShown); ++i)
    texts.push_back(std::to_string(steps[i]));
  if (steps.size() > kStepsShown)
    texts.push_back(std::to_string(steps.size() - kStepsShown) + " more");
  return (steps.size() == 1 ? "step " : "steps ") + joined(texts);
}

Value steps_value(const std::vector<std::uint32_t>& steps) {
  Value list = Value::array();
  for (const std::uint32_t step : steps) list.push(std::int64_t{step});
  return list;
}

Value opcodes_value(const MachineCode& code) {
  Value opcodes = Value::map();
  for (const auto& [opcode, count] : code.opcodes) opcodes.set(opcode, count);
  return opcodes;
}

}  // namespace

std::string opcode_mix(const MachineCode& code) {
  std::vector<std::string> texts;
  const auto add = [&](std::string_view opcode, std::int64_t count) {
    texts.push_back(std::to_string(count) + " " + std::string(opcode));
  };
  for (const auto& [opcode, count] : code.opcodes)
    if (opcode.ends_with("MMA")) add(opcode, count);
  for (const std::string_view opcode : kMixed) {
    const auto found = code.opcodes.find(std::string(opcode));
    if (found != code.opcodes.end()) add(opcode, found->second);
  }
  return joined(texts);
}

void print_sass(Terminal& terminal, const std::vector<KernelCode>& kernels) {
  if (kernels.empty()) {
    terminal.line();
    terminal.line("no machine code: the plan has no kernels except torch's");
  }
  for (const KernelCode& kernel : kernels) {
    terminal.line();
    terminal.line(terminal.paint(Colour::kBold, kernel_name(kernel)) + " (" +
                  steps_text(kernel.steps) + ")");
    if (!kernel.problem.empty()) {
      terminal.line("no machine code: " + kernel.problem);
      continue;
    }
    terminal.line(facts_text(kernel));
    if (const std::string mix = opcode_mix(kernel.code); !mix.empty()) terminal.line(mix);
    terminal.line();
    terminal.text(kernel.code.text);
  }
}

Value sass_value(const std::vector<KernelCode>& kernels) {
  Value list = Value::array();
  for (const KernelCode& kernel : kernels) {
    list.push(Value::map({{"kernel", kernel.name},
                          {"name", kernel_name(kernel)},
                          {"steps", steps_value(kernel.steps)},
                          {"problem", kernel.problem},
                          {"registers", kernel.registers},
                          {"shared_bytes", kernel.shared_bytes},
                          {"local_bytes", kernel.local_bytes},
                          {"instructions", kernel.code.instructions},
                          {"opcodes", opcodes_value(kernel.code)},
                          {"text", kernel.code.text}}));
  }
  return list;
}

}  // namespace hone
