#include "evaluate/tools.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "evaluate/diagnostics.hpp"
#include "evaluate/processor_speed.hpp"
#include "examine/profile.hpp"
#include "examine/sanitizer.hpp"
#include "examine/text_lines.hpp"
#include "judge/fill.hpp"
#include "judge/plans.hpp"

namespace hone {
namespace {

// Rationale: a model reads these facts. feedback_tokens of the episode cuts the text further.
constexpr std::size_t kBlocksShown = 3, kSanitizerFindingsMax = 8;
constexpr std::size_t kSanitizerInputBytesMax = std::size_t{8} << 20;

bool writes_report(const EvaluatorOptions& options, const std::string& report) {
  return std::find(options.reports.begin(), options.reports.end(), report) != options.reports.end();
}

bool can_report_code(const EvaluatorOptions& options, const std::string& language) {
  return writes_report(options, "code") && language != "python";
}

/// Rationale: below the level "private", other processes have the user of the program, or it sees files of the machine.
Status expect_private(IsolationLevel isolation) {
  if (isolation >= IsolationLevel::kPrivate) return {};
  return failed_precondition(
      "sanitize runs the kernel as a program of its own, which needs isolation 'private'; found '" +
      std::string(isolation_name(isolation)) + "'; hone doctor says what is missing");
}

/// The compiler's report is requested, because the code then has line numbers.
Status prepare_device_sanitizer(const EvaluatorOptions& options, const std::string& language,
                                BuildRequest& build) {
  if (options.sanitizer.runs.empty())
    return failed_precondition("sanitize is not available on the backend " + options.backend);
  if (language == "python")
    return failed_precondition(
        "sanitize supports only native code; the submission is a Python module");
  HONE_TRY(expect_sanitizer(options.sanitizer));
  build.report = "code";
  return {};
}

Status prepare_sanitizer(const Task& task, const EvaluatorOptions& options,
                         const PlannedSource& planned, BuildRequest& build) {
  if (!writes_report(options, "sanitizer") || planned.mode != Mode::kNativeOnCpu)
    return failed_precondition("sanitize supports only C and C++ on the backend cpu");
  HONE_ASSIGN(SanitizerProgram program,
              sanitizer_program(task, fill_tensor, kSanitizerInputBytesMax));
  build.report = "sanitizer";
  build.program = std::make_shared<const SanitizerProgram>(std::move(program));
  return {};
}

/// Foreign text as valid UTF-8, and not too long for a reply.
Value readable(const Value& value) {
  constexpr std::size_t kTextMax = std::size_t{16} << 10;
  if (value.is_string()) return cut_end(valid_utf8(value.as_string()), kTextMax);
  if (value.is_array()) {
    Value list = Value::array();
    for (const Value& one : value.as_array()) list.push(readable(one));
    return list;
  }
  if (!value.is_map()) return value;
  Value map = Value::map();
  for (const auto& [name, one] : value.as_map()) map.set(name, readable(one));
  return map;
}

/// Empty if the compiler wrote no report.
CodeReport code_of(const Built& built) { return built.code ? *built.code : CodeReport(); }

Value facts_of_disassemble(const Built& built) {
  const CodeReport code = code_of(built);
  Value blocks = Value::array();
  for (std::size_t i = 0; i < std::min(code.blocks.size(), kBlocksShown); ++i)
    blocks.push(code_block_to_value(code.blocks[i]));
  return Value::map({{"blocks", std::move(blocks)}, {"left_out", texts_value(code.left_out)}});
}

Value facts_of_compile(const Built& built, const std::string& source_name) {
  const CodeReport code = code_of(built);
  Value loops = Value::array(), kernels = Value::array();
  for (const LoopRemark& loop : code.loops) loops.push(loop_remark_to_value(loop));
  for (const KernelResources& kernel : code.kernels)
    kernels.push(kernel_resources_to_value(kernel));
  return Value::map({{"diagnostics", submission_diagnostics(built.diagnostics, source_name).text},
                     {"loops", std::move(loops)},
                     {"kernels", std::move(kernels)},
                     {"left_out", texts_value(code.left_out)}});
}

Value value_of_findings(const std::vector<SanitizerFinding>& found,
                        const std::vector<std::string>& calls) {
  Value findings = Value::array();
  for (const SanitizerFinding& finding : found) {
    findings.push(Value::map({{"kind", finding.kind},
                              {"line", finding.line > 0 ? Value(finding.line) : Value()},
                              {"message", finding.message},
                              {"call", finding.call < calls.size() ? calls[finding.call] : ""}}));
  }
  return findings;
}

/// Whether the report has this member, and it is true.
bool report_flag(const Built& built, const char* name) {
  const Value* flag = built.report.find(name);
  return flag != nullptr && *flag == Value(true);
}

bool is_zero(const Value* number) { return number != nullptr && *number == Value(0); }

/// The last part of the output of a sanitized program, without the lines that hone's own part printed.
std::string end_of(const std::string& output) {
  constexpr std::size_t kShown = 600;
  std::string kept;
  examine::for_each_line(output, [&kept](std::string_view line) {
    if (!is_of_sanitizer_program(line)) kept.append(printable(line)) += '\n';
  });
  return valid_utf8(kept.size() > kShown ? kept.substr(kept.size() - kShown) : kept);
}

/// The last call that the program began; empty if it began none.
std::string last_call(const std::vector<std::string>& calls, const std::string& output) {
  const std::optional<std::size_t> last = sanitizer_last_call(output);
  return last && *last < calls.size() ? calls[*last] : "";
}
bool has_ended(const std::string& output) {
  return output.find(std::string("\n") + kSanitizerEnd + "\n") != std::string::npos;
}

Value facts_of_sanitizer(const SanitizerProgram& program, const Built& built,
                         const std::string& source_name) {
  const Value* status = built.report.find("status");
  const std::string output = report_text(built, "output");
  Value findings = value_of_findings(sanitizer_findings(output, source_name, kSanitizerFindingsMax),
                                     program.calls);
  const bool is_late = report_flag(built, "timed_out");
  // Without a finding, the end of the output may tell why the program failed.
  const bool is_silent = findings.as_array().empty() && !is_zero(status);
  return Value::map(
      {{"findings", std::move(findings)},
       {"output", is_silent ? end_of(output) : ""},
       {"finished", has_ended(output)},
       {"status", status != nullptr && status->is_int() ? status->as_int() : std::int64_t{-1}},
       {"timed_out", is_late && !built.starved},
       {"starved", is_late && built.starved},
       {"last_call", last_call(program.calls, output)},
       {"calls", program.calls.size()},
       {"left_out", program.left_out}});
}

}  // namespace

Status prepare_build(Tool tool, const Task& task, const EvaluatorOptions& options,
                     IsolationLevel isolation, const std::string& language, PlannedSource& source) {
  if (tool == Tool::kSanitize) {
    HONE_TRY(expect_private(isolation));
    if (options.device_code) return prepare_device_sanitizer(options, language, source.build);
    return prepare_sanitizer(task, options, source, source.build);
  }
  if (tool == Tool::kDisassemble && !can_report_code(options, language)) {
    return failed_precondition(
        language == "python"
            ? "disassemble supports only native code; the submission is a Python module"
            : "the compiler of the backend " + options.backend + " writes no assembler text");
  }
  if (tool != Tool::kCheck) add_code_report(options, language, source.build);
  if (!is_judged(tool)) source.build.record = false;
  return {};
}

void add_code_report(const EvaluatorOptions& options, const std::string& language,
                     BuildRequest& build) {
  if (can_report_code(options, language)) build.report = "code";
}

Value facts_of_build(Tool tool, const BuildRequest& request, const Built& built) {
  const std::string& source_name = request.name;
  if (tool == Tool::kSanitize)
    return readable(facts_of_sanitizer(*request.program, built, source_name));
  if (tool == Tool::kDisassemble) return readable(facts_of_disassemble(built));
  return readable(facts_of_compile(built, source_name));
}

Result<DeviceCalls> sanitizing_calls(const Task& task, const Plan& plan, const Value& device) {
  return sanitizer_device_calls(task, plan, limits_of(device), fill_tensor,
                                kSanitizerInputBytesMax);
}

Value facts_of_sanitizing(const DeviceCalls& program, const SanitizerReply& reply,
                          const std::string& source_name) {
  std::vector<DeviceSanitizerRun> runs;
  Value names = Value::array();
  bool finished = !reply.runs.empty(), is_late = reply.runs.empty();
  std::int64_t status = 0;
  std::string call, error;
  for (const SanitizerReply::Run& one : reply.runs) {
    if (const std::string problem = device_sanitizer_problem(one.run); !problem.empty())
      return Value::map({{"unavailable", problem}});
    runs.push_back(one.run);
    names.push(one.run.name);
    finished = finished && has_ended(one.run.events) && is_complete_report(one.run.report);
    is_late = is_late || one.timed_out;
    if (status == 0) {
      status = one.status;
      call = last_call(program.calls, one.run.events);
      error = device_sanitizer_error(one.run);
    }
  }
  Value findings = value_of_findings(
      device_sanitizer_findings(runs, program, source_name, kSanitizerFindingsMax), program.calls);
  const bool is_silent = findings.as_array().empty();
  return readable(Value::map({{"findings", std::move(findings)},
                              {"output", is_silent ? error : ""},
                              {"finished", finished},
                              {"status", is_late && status == 0 ? std::int64_t{137} : status},
                              {"timed_out", is_late && !reply.was_starved},
                              {"starved", is_late && reply.was_starved},
                              {"last_call", call},
                              {"calls", program.calls.size()},
                              {"left_out", program.left_out},
                              {"runs", std::move(names)}}));
}

bool may_count(const EvaluatorOptions& options, Mode mode) {
  return mode == Mode::kPlanOnDevice && !options.counters.parameter.empty();
}

bool counts_launches(const EvaluatorOptions& options, Mode mode, const Verdict& verdict) {
  return may_count(options, mode) && verdict.correct() && verdict.speedup;
}

Result<DeviceCalls> counting_call(const Task& task, const Plan& plan, const Value& device,
                                  const EvaluatorOptions& options) {
  constexpr std::size_t kDataMax = std::size_t{64} << 20;  // of one request
  HONE_TRY(expect_counters(options.counters));
  return timed_device_call(task, plan, limits_of(device), fill_tensor, kDataMax);
}

Value facts_of_profile(const Task& task, const EvaluatorOptions& options,
                       const std::string& language, const Built& built, const Plan& plan,
                       const Verdict& verdict, const Value& device,
                       const ProfileCounters& counters) {
  if (!verdict.correct() || !verdict.speedup) return Value::map();
  const bool is_native = options.device_code && language != "python";
  return readable(profile_facts({.task = task,
                                 .verdict = verdict,
                                 .device = device,
                                 .code = code_of(built),
                                 .plan = is_native ? &plan : nullptr,
                                 .counters = counters}));
}

std::vector<std::string> findings_in(const Value& facts) {
  std::vector<std::string> texts;
  const Value* findings = facts.find("findings");
  if (findings == nullptr) return texts;
  for (const Value& text : findings->as_array()) texts.push_back(text.as_string());
  return texts;
}

Value facts_with_speed(Value facts, const EvaluatorOptions& options, std::size_t device) {
  if (options.device_code) return facts;
  static const ProcessorSpeed speed = measure_processor(options.devices.at(device).cores.front());
  facts.set("clock_hz", speed.clock_hz)
      .set("vector_bytes", speed.vector_bytes)
      .set("dram_bytes_per_second", speed.bytes_per_second)
      .set("flops_per_second_max",
           Value::map({{"f32", speed.f32_flops_per_second}, {"f64", speed.f64_flops_per_second}}));
  return facts;
}

Value facts_of_hardware(const EvaluatorOptions& options, const Value& device,
                        const std::string& fingerprint) {
  Value facts = Value::map({{"backend", options.backend}, {"fingerprint", fingerprint}});
  for (const char* name :
       {"name", "architecture", "multiprocessors", "memory_bytes", "cache_bytes",
        "dram_bytes_per_second", "flops_per_second_max", "clock_hz", "vector_bytes", "limits"}) {
    if (const Value* found = device.find(name)) facts.set(name, *found);
  }
  return facts;
}

}  // namespace hone
