// The limits of a recording, and the reader of its answer.
#include "evaluate/recording.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "evaluate/ask_interpreter.hpp"
#include "evaluate/interpreter.hpp"
#include "hone/recorded_plan_reader.hpp"

namespace hone {
namespace {

constexpr std::size_t kRecordingBytesMax = 96u << 20;
constexpr std::int64_t kRecordingFileBytesMax = std::int64_t{64} << 20;
constexpr double kRecordingSeconds = 60;  // of the process' own time, compilers included
constexpr std::size_t kProblemMax = 300;
constexpr std::size_t kWorkNameMax = 60;

/// The kernels and operators of one call.
Witnessed work_of(const recorded::Plan& plan) {
  Witnessed work;
  for (const recorded::Step& step : plan.run) {
    if (const auto* launch = std::get_if<recorded::Launch>(&step.work)) {
      const recorded::Kernel& kernel = plan.kernels[launch->kernel];
      const bool of_torch = plan.images[kernel.image].library.starts_with("libtorch");
      if (!of_torch) ++work.kernels[kernel.name.substr(0, kWorkNameMax)];
      if (of_torch) ++work.operators["torch " + kernel.name.substr(0, kWorkNameMax)];
    } else if (const auto* call = std::get_if<recorded::Operator>(&step.work)) {
      ++work.operators["aten." + call->name];
    }
  }
  return work;
}

std::string printable_text(std::string_view text) {
  std::string words(text.substr(0, kProblemMax));
  for (char& c : words) c = c >= ' ' && c <= '~' ? c : '?';
  return words;
}

}  // namespace

Result<Recording> read_recording(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return invalid_argument("recording: found no line");
  HONE_ASSIGN(const Value head, from_json(bytes.substr(0, end)));
  const Value* problem = head.find("problem");
  if (problem == nullptr || !problem->is_string())
    return invalid_argument("recording: found no problem in its first line");
  Recording recording;
  recording.problem = printable_text(problem->as_string());
  if (!recording.problem.empty()) return recording;
  auto plan = std::make_shared<RecordedPlan>();
  plan->bytes = bytes.substr(end + 1);
  try {
    const recorded::Plan read = recorded::read_plan(plan->bytes);
    plan->has_operators = recorded::has_operators(read);
    plan->work = work_of(read);
  } catch (const plugin::Failure& failure) {
    recording.problem = printable_text(std::string("its plan cannot be used: ") + failure.what());
    return recording;
  }
  recording.plan = std::move(plan);
  return recording;
}

Result<Recording> record_module(Zygotes& zygotes, const EvaluatorOptions& options,
                                const std::string& device, const std::string& artifact) {
  Question question;
  question.label = "recording";
  question.script = "builder/record_module.py";
  question.place = "recorder";
  question.arguments = {device};
  question.seconds = kRecordingSeconds;
  question.memory_bytes = 2 * options.build_memory_mb << 20;
  question.file_bytes = kRecordingFileBytesMax;
  question.answer_bytes_max = kRecordingBytesMax;
  question.use = Zygotes::Use::kRecording;
  HONE_ASSIGN(const std::string answer, ask_interpreter(zygotes, options, question, artifact));
  return read_recording(answer);
}

}  // namespace hone
