// One process, one artifact, one answer.
#include "evaluate/ask_interpreter.hpp"

#include "channel/stream.hpp"
#include "evaluate/await_answer.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

constexpr double kClockFactorOfAnswer =
    4;  // limit by the clock, as a multiple of the process' own time
constexpr double kArtifactSendSeconds = 10;
constexpr double kEndSeconds = 5;

/// deadline_exceeded: the process ran too long; resource_exhausted: it was starved.
Status status_of(TimeLimit reached) {
  if (reached == TimeLimit::kOwn) return Error{Code::kDeadlineExceeded, "no answer in time"};
  if (reached == TimeLimit::kClock)
    return resource_exhausted("no answer in time; the machine is too busy, or was stopped");
  return {};
}

/// `start`: starts the process of a SpawnRequest.
template <typename Start>
Result<std::string> ask(const Start& start, const EvaluatorOptions& options,
                        const Question& question, const std::string& artifact) {
  HONE_ASSIGN(auto ends, stream_pair());
  SpawnRequest spawn;
  spawn.jail = Jail::kBuilder;
  spawn.label = question.label;
  run_interpreter(options, question.script.c_str(), question.use, question.arguments, spawn);
  spawn.fds = {ends.second.get()};
  spawn.limits.memory_bytes = question.memory_bytes;
  spawn.limits.file_bytes = question.file_bytes;
  spawn.limits.cpu_seconds = question.seconds + kArtifactSendSeconds;
  HONE_ASSIGN(const auto process, start(spawn));
  HONE_TRY(send_message(ends.first.get(), artifact, {}, kArtifactSendSeconds));
  const AnswerLimits limits{question.seconds, kClockFactorOfAnswer * question.seconds};
  const Status waited = status_of(await_answer(ends.first.get(), *process, limits).reached);
  auto answer = waited ? receive_message(ends.first.get(), question.answer_bytes_max,
                                         kArtifactSendSeconds, process->pidfd())
                       : Result<StreamMessage>(waited.error());
  process->kill();
  // Its children must not run while the next submission is measured.
  static_cast<void>(process->wait(kEndSeconds));
  if (!answer) return answer.error().in(question.label);
  return std::move(answer->bytes);
}

}  // namespace

Result<std::string> ask_interpreter(Zygotes& zygotes, const EvaluatorOptions& options,
                                    const Question& question, const std::string& artifact) {
  return ask([&](const SpawnRequest& request) { return zygotes.spawn(request, question.use); },
             options, question, artifact);
}

Result<std::string> ask_interpreter(Launcher& launcher, const EvaluatorOptions& options,
                                    const Question& question, const std::string& artifact) {
  return ask([&](const SpawnRequest& request) { return launcher.spawn(request); }, options,
             question, artifact);
}

}  // namespace hone
