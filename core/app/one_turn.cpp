// An episode of one turn that is not stored.
#include "app/one_turn.hpp"

namespace hone {

std::shared_ptr<const Settings> one_turn(const Environment& environment, const Task& task,
                                         const std::string& backend) {
  const Value options = Value::map({{"max_turns", 1}});
  Fields fields(options, "options");
  return environment.read_options(fields, task, backend);
}

Result<PreparedTurn> prepare_turn(const Environment& environment,
                                  const std::shared_ptr<const Task>& task,
                                  const std::string& backend, const Value& action) {
  const auto settings = one_turn(environment, *task, backend);
  HONE_ASSIGN(auto prepared, environment.prepare({*task, backend, *settings, {}, 0}, action));
  if (Verdict* verdict = std::get_if<Verdict>(&prepared)) return PreparedTurn(std::move(*verdict));
  SubmittedCode& candidate = std::get<SubmittedCode>(prepared);
  Submission submission;
  submission.task = task;
  submission.backend = backend;
  submission.language = std::move(candidate.language);
  submission.source = std::move(candidate.source);
  return PreparedTurn(std::move(submission));
}

}  // namespace hone
