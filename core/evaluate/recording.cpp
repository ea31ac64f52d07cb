// The limits of a recording, and the reader of its answer.
#include "evaluate/recording.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/utf8.hpp"
#include "evaluate/ask_interpreter.hpp"
#include "hone/recorded_plan_reader.hpp"

namespace hone {
namespace {

constexpr std::int64_t kRecordingFileBytesMax = std::int64_t{64} << 20;
constexpr double kRecordingSeconds = 60;  // of the process' own time, compilers included
constexpr std::size_t kProblemMax = 300;
constexpr std::size_t kKernelNameMax = 64;  // bytes of an autotuned kernel's name in a verdict

void add_work(const recorded::Plan& plan, const recorded::Step& step, Witnessed& work) {
  if (const auto* launch = std::get_if<recorded::Launch>(&step.work)) {
    const recorded::Kernel& kernel = plan.kernels[launch->kernel];
    is_of_torch(plan.images[kernel.image]) ? work.add_operator("torch." + kernel.name)
                                           : work.add_kernel(kernel.name);
  } else if (const auto* call = std::get_if<recorded::Operator>(&step.work)) {
    work.add_operator("aten." + call->name);
  }
}

/// The work of an autotuned kernel, whichever configuration is chosen. Throws a Failure if configurations start
/// different kernels of the submission. Torch's kernels may differ (some clear a buffer): the largest number of each
/// counts.
Witnessed work_of_configurations(const std::vector<Witnessed>& configurations) {
  Witnessed work = configurations.front();
  for (const Witnessed& each : configurations) {
    if (each.kernels != work.kernels)
      plugin::invalid_argument("the configurations of an autotuned kernel start different kernels");
    for (const auto& [name, count] : each.operators) {
      std::int64_t& most = work.operators[name];
      most = std::max(most, count);
    }
  }
  return work;
}

/// The kernels and operators of one call. Rationale: they show whose work was timed. The process that replays the plan
/// chooses configurations later, so this work must not depend on the choice.
Witnessed work_of(const recorded::Plan& plan) {
  Witnessed work;
  std::vector<std::vector<Witnessed>> tuned;
  for (const recorded::Tuned& kernel : plan.tuned) tuned.emplace_back(kernel.configurations.size());
  for (const recorded::Step& step : plan.run)
    add_work(plan, step, step.tuned == 0 ? work : tuned[step.tuned - 1][step.configuration]);
  for (const std::vector<Witnessed>& configurations : tuned) {
    const Witnessed one = work_of_configurations(configurations);
    for (const auto& [name, count] : one.kernels)
      for (std::int64_t i = 0; i < count; ++i) work.add_kernel(name);
    for (const auto& [name, count] : one.operators)
      for (std::int64_t i = 0; i < count; ++i) work.add_operator(name);
  }
  return work;
}

bool has_cooperative_launch(const recorded::Plan& plan) {
  const auto is_cooperative = [](const recorded::Step& step) {
    const auto* launch = std::get_if<recorded::Launch>(&step.work);
    return launch != nullptr && launch->cooperative;
  };
  return std::any_of(plan.setup.begin(), plan.setup.end(), is_cooperative) ||
         std::any_of(plan.run.begin(), plan.run.end(), is_cooperative);
}

}  // namespace

bool is_of_torch(const recorded::Image& image) { return image.library.starts_with("libtorch"); }

Result<Recording> read_recording(std::string_view bytes, SharedPieces& images) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return invalid_argument("recording: found no line");
  HONE_ASSIGN(const Value head, from_json(bytes.substr(0, end)));
  const Value* problem = head.find("problem");
  if (problem == nullptr || !problem->is_string())
    return invalid_argument("recording: found no problem in its first line");
  Recording recording;
  recording.problem = printable_ascii(problem->as_string(), kProblemMax);
  if (!recording.problem.empty()) return recording;
  const std::string_view file = bytes.substr(end + 1);
  auto plan = std::make_shared<RecordedPlan>();
  try {
    const recorded::Plan read = recorded::read_plan(file);
    plan->has_operators = recorded::has_operators(read);
    plan->is_cooperative = has_cooperative_launch(read);
    plan->work = work_of(read);
    for (std::size_t i = 0; i < read.tuned.size(); ++i)
      plan->tuned.push_back({recorded::tuned_kernel_name(read, i).substr(0, kKernelNameMax),
                             read.tuned[i].key, read.tuned[i].configurations});
  } catch (const plugin::Failure& failure) {
    recording.problem =
        printable_ascii(std::string("its plan cannot be used: ") + failure.what(), kProblemMax);
    return recording;
  }
  plan->bytes = images.share(file);
  recording.plan = std::move(plan);
  return recording;
}

Result<Recording> record_module(Zygotes& zygotes, const EvaluatorOptions& options,
                                SharedPieces& images, const std::string& device,
                                const std::string& artifact) {
  Question question;
  question.label = "recording";
  question.script = "builder/record_module.py";
  question.arguments = {device};
  question.seconds = kRecordingSeconds;
  question.memory_bytes = 2 * options.build_memory_mb << 20;
  question.file_bytes = kRecordingFileBytesMax;
  question.answer_bytes_max = kPlanBytesMax;
  question.use = Zygotes::Use::kRecording;
  HONE_ASSIGN(const std::string answer, ask_interpreter(zygotes, options, question, artifact));
  return read_recording(answer, images);
}

}  // namespace hone
