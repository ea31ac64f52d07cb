#include "kernel_refine/tools.hpp"

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"
#include "kernel_refine/words.hpp"

namespace hone::kernel_refine {
namespace {

std::string description(Tool tool) {
  switch (tool) {
    case Tool::kCheck:
      return "Builds a kernel and checks its results on the shapes of the task. It is not timed "
             "and not scored.";
    case Tool::kProfile:
      return "Judges and times a kernel without scoring it, and reports where its time goes: "
             "memory bandwidth, loops that are not vectorized, registers, launches.";
    case Tool::kSanitize:
      return "Runs a kernel under sanitizers and reports each error with its line: on a processor, "
             "address errors and undefined behaviour; on a device, invalid memory accesses and "
             "races in shared memory.";
    case Tool::kDisassemble:
      return "Shows the machine code of the innermost loops of a kernel, with source lines.";
    case Tool::kCompile:
      return "Compiles a kernel and reports the compiler's messages, the loops that it vectorized, "
             "and registers and spills of device kernels.";
    case Tool::kHardware:
      return "Describes the device that judges and times the kernel.";
  }
  return "";
}

std::int64_t uses_of(Tool tool, std::span<const CallFacts> calls) {
  return std::count_if(calls.begin(), calls.end(),
                       [tool](const CallFacts& call) { return call.tool == enum_name(tool); });
}

std::int64_t number_for(const std::map<Tool, std::int64_t>& numbers, Tool tool) {
  const auto found = numbers.find(tool);
  return found == numbers.end() ? 0 : found->second;
}

std::string text_of(const Value& map, const char* name) {
  return text_or_empty(member_or_nil(map, name));
}

double number_of(const Value& map, const char* name) {
  return number_or_nan(member_or_nil(map, name));
}

std::int64_t integer_of(const Value& map, const char* name) {
  const Value& found = member_or_nil(map, name);
  return found.is_int() ? found.as_int() : 0;
}

const Value::Array& list_of(const Value& map, const char* name) {
  return list_or_empty(member_or_nil(map, name));
}

bool is_set(const Value& map, const char* name) { return member_or_nil(map, name) == Value(true); }

/// Foreign text as a Markdown code block, which it cannot leave.
std::string code_block(const std::string& text) {
  return "```\n" + without_fences(text) + "\n```\n";
}

/// What a compiler says about loops and kernels, a line each.
std::string code_text(const Value& facts) {
  std::string text;
  for (const Value& loop : list_of(facts, "loops")) {
    const std::string reason = text_of(loop, "reason");
    const std::int64_t bytes = integer_of(loop, "vector_bytes");
    const bool is_vectorized = is_set(loop, "vectorized");
    text += "- Loop at line " + std::to_string(integer_of(loop, "line")) + ": " +
            (is_vectorized
                 ? "vectorized" +
                       (bytes > 0 ? ", vectors of " + count(bytes, "byte", "bytes") : std::string())
                 : "not vectorized" + (reason.empty() ? "" : ": " + reason)) +
            "\n";
  }
  for (const Value& kernel : list_of(facts, "kernels")) {
    text +=
        "- Kernel '" + text_of(kernel, "kernel") +
        "': " + count(integer_of(kernel, "registers"), "register", "registers") + ", " +
        count(integer_of(kernel, "shared_bytes"), "byte", "bytes") + " of shared memory, " +
        count(integer_of(kernel, "spill_stores_bytes") + integer_of(kernel, "spill_loads_bytes"),
              "byte", "bytes") +
        " of spills\n";
  }
  return text;
}

/// A line for each part that the report left out because of a limit.
std::string left_out_text(const Value& facts) {
  std::string text;
  for (const Value& what : list_of(facts, "left_out"))
    text += "- Left out: " + what.as_string() + "\n";
  return text;
}

std::string compile_text(const Value& facts) {
  const std::string words = text_of(facts, "diagnostics");
  std::string text = "The kernel builds.\n" + code_text(facts) + left_out_text(facts);
  if (!words.empty()) text += "Messages of the compiler:\n" + code_block(words);
  return text;
}

/// " (95 % interval 0.98× to 1.03×; noisy)"
std::string interval_text(const Value& facts) {
  const Value::Array& bounds = list_of(facts, "interval");
  if (bounds.size() != 2) return "";
  std::string text = " (95 % interval " + speedup_text(bounds[0].as_double()) + " to " +
                     speedup_text(bounds[1].as_double());
  for (const Value& flag : list_of(facts, "flags")) text += "; " + flag.as_string();
  return text + ")";
}

std::string profile_text(const Value& facts) {
  const double time = number_of(facts, "time_us"), baseline = number_of(facts, "baseline_us");
  std::string text = "A call takes " + microseconds(time) + ", the baseline " +
                     microseconds(baseline) + ": " + speedup_text(number_of(facts, "speedup")) +
                     interval_text(facts) + ".\n";
  int rank = 0;
  for (const Value& finding : list_of(facts, "findings"))
    text += std::to_string(++rank) + ". " + finding.as_string() + "\n";
  return text + code_text(facts) + left_out_text(facts);
}

std::string sanitize_text(const Value& facts) {
  const Value::Array& findings = list_of(facts, "findings");
  const std::int64_t status = integer_of(facts, "status"), calls = integer_of(facts, "calls");
  std::string text;
  for (const Value& finding : findings) {
    const std::int64_t line = integer_of(finding, "line");
    const std::string call = text_of(finding, "call");
    text += "- " + (line > 0 ? "Line " + std::to_string(line) + ": " : std::string()) +
            text_of(finding, "kind") + ": " + text_of(finding, "message") +
            (call.empty() ? "" : " (in the call with " + call + ")") + "\n";
  }
  if (!findings.empty()) return "The sanitizers found:\n" + code_block(text);
  const std::int64_t left_out = integer_of(facts, "left_out");
  if (calls == 0) return "The sanitizers ran nothing: no shape of this task is small enough.\n";
  if (status == 0 && !is_set(facts, "finished"))
    return "The program under the sanitizers ended before its last call.\n";
  if (status == 0)
    return "The sanitizers found no error in " + count(calls, "call", "calls") + "." +
           (left_out > 0 ? " " + count(left_out, "call was", "calls were") +
                               " left out, because the inputs are too large."
                         : "") +
           "\n";
  const std::string call = text_of(facts, "last_call"), output = text_of(facts, "output");
  const std::string where = call.empty() ? "" : " in the call with " + call;
  if (is_set(facts, "starved"))
    return "Under the sanitizers, the kernel did not finish, because other work used its core. "
           "This says nothing about the kernel; call the tool again.\n";
  if (is_set(facts, "timed_out"))
    return "Under the sanitizers, the kernel did not finish within the time limit" + where +
           ". Check that its loops end.\n";
  return "The program under the sanitizers ended with status " + std::to_string(status) + where +
         " and without a report." +
         (output.empty() ? "\n" : " The end of its output:\n" + code_block(output));
}

std::string disassemble_text(const Value& facts) {
  std::string text;
  for (const Value& block : list_of(facts, "blocks")) {
    const Value::Array& lines = list_of(block, "lines");
    text += (is_set(block, "is_loop") ? "Innermost loop of '" : "Code of '") +
            text_of(block, "function") + "'";
    if (lines.size() == 2 && lines[0] == lines[1])
      text += ", line " + std::to_string(lines[0].as_int());
    else if (lines.size() == 2)
      text += ", lines " + std::to_string(lines[0].as_int()) + " to " +
              std::to_string(lines[1].as_int());
    text += ", " + count(integer_of(block, "instructions"), "instruction", "instructions") + ":\n" +
            code_block(text_of(block, "text"));
  }
  text += left_out_text(facts);
  return text.empty() ? "The compiler wrote no code.\n" : text;
}

std::string hardware_text(const Value& facts) {
  std::string text = "Device: " + text_of(facts, "name") + "\n";
  const auto add = [&](const char* name, double unit, const char* what) {
    const double value = number_of(facts, name);
    if (value > 0)
      text += std::string(what) + ": " + number(std::round(value / unit * 100) / 100) + "\n";
  };
  add("multiprocessors", 1, "Cores or multiprocessors");
  add("clock_hz", 1e9, "Clock (GHz)");
  add("vector_bytes", 1, "Widest vector (bytes)");
  add("memory_bytes", 1 << 30, "Memory (GiB)");
  add("cache_bytes", 1 << 20, "L2 cache (MiB)");
  // Of a processor, the rates of one core are measured.
  const bool is_processor = number_of(facts, "clock_hz") > 0;
  add("dram_bytes_per_second", 1e9,
      is_processor ? "Memory bandwidth of one core (GB/s)" : "Memory bandwidth (GB/s)");
  if (const double flops = number_of(member_or_nil(facts, "flops_per_second_max"), "f32");
      flops > 0)
    text += std::string("Single-precision arithmetic") + (is_processor ? " of one core" : "") +
            " (GFLOP/s): " + number(std::round(flops / 1e9)) + "\n";
  return text + "Toolchain: " + text_of(facts, "fingerprint") + "\n";
}

}  // namespace

Value tool_schema(Tool tool, const std::vector<std::string>& languages, std::int64_t turns) {
  Value properties = Value::map(), required = Value::array();
  if (tool != Tool::kHardware) {
    properties.set("code", Value::map({{"type", "string"},
                                       {"description", "a whole source file with the kernel"}}));
    properties.set("language", Value::map({{"type", "string"}, {"enum", texts_value(languages)}}));
    required.push("code");
  }
  return Value::map(
      {{"name", enum_name(tool)},
       {"description",
        description(tool) +
            (turns > 0 ? " A use costs " + count(turns, "turn", "turns") + "." : std::string())},
       {"parameters", Value::map({{"type", "object"},
                                  {"properties", std::move(properties)},
                                  {"required", std::move(required)},
                                  {"additionalProperties", false}})}});
}

Value tool_schemas(const ToolRules& rules, const std::vector<std::string>& languages) {
  Value schemas = Value::array();
  for (const auto& [tool, uses] : rules.uses) {
    if (uses > 0) schemas.push(tool_schema(tool, languages, number_for(rules.turns, tool)));
  }
  return schemas;
}

std::int64_t turns_of(const ToolRules& rules, std::span<const CallFacts> calls) {
  std::int64_t sum = 0;
  for (const auto& [tool, turns] : rules.turns) sum += turns * uses_of(tool, calls);
  return sum;
}

Value tools_left(const ToolRules& rules, std::span<const CallFacts> calls,
                 std::int64_t turns_left) {
  Value left = Value::map();
  for (const auto& [tool, uses] : rules.uses) {
    if (uses <= 0) continue;
    std::int64_t may = uses - uses_of(tool, calls);
    if (const std::int64_t turns = number_for(rules.turns, tool); turns > 0)
      may = std::min(may, (turns_left - 1) / turns);
    left.set(enum_name(tool), std::max<std::int64_t>(may, 0));
  }
  return left;
}

Status expect_use_left(Tool tool, const ToolRules& rules, std::span<const CallFacts> calls,
                       std::int64_t turns_left) {
  const std::int64_t uses = number_for(rules.uses, tool), turns = number_for(rules.turns, tool);
  const std::string name(enum_name(tool));
  if (uses == 0)
    return failed_precondition("tool " + name +
                               ": this episode does not have it; set its uses with "
                               "the reset option tools or with environment.tools");
  if (uses_of(tool, calls) >= uses)
    return failed_precondition("tool " + name + ": its " + count(uses, "use is", "uses are") +
                               " spent in this episode");
  if (turns > 0 && turns_left <= turns)
    return failed_precondition("tool " + name + ": a use costs " + count(turns, "turn", "turns") +
                               "; the episode has " + std::to_string(turns_left) +
                               " left, and the last one is for a submission");
  return {};
}

std::string facts_text(Tool tool, const Value& facts) {
  if (const std::string reason = text_of(facts, "unavailable"); !reason.empty())
    return "This tool has no answer here: " + reason + ".\n";
  switch (tool) {
    case Tool::kProfile:
      return profile_text(facts);
    case Tool::kSanitize:
      return sanitize_text(facts);
    case Tool::kDisassemble:
      return disassemble_text(facts);
    case Tool::kCheck:
    case Tool::kCompile:
      return compile_text(facts);
    case Tool::kHardware:
      return hardware_text(facts);
  }
  return "";
}

Value call_messages(const std::string& id, Tool tool, const Value& action,
                    const std::string& text) {
  Value arguments = Value::map();
  for (const auto& [name, value] : action.as_map()) {
    if (name != "tool") arguments.set(name, value);
  }
  const std::string name(enum_name(tool));
  const Value call =
      Value::map({{"id", id},
                  {"type", "function"},
                  {"function", Value::map({{"name", name}, {"arguments", to_json(arguments)}})}});
  return Value::array(
      {Value::map({{"role", "assistant"}, {"content", ""}, {"tool_calls", Value::array({call})}}),
       Value::map({{"role", "tool"}, {"tool_call_id", id}, {"name", name}, {"content", text}})});
}

}  // namespace hone::kernel_refine
