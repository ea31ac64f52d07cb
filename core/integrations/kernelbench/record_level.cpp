// A source that cannot be recorded counts, with its reason.
#include "integrations/kernelbench/record_level.hpp"

#include <map>
#include <utility>
#include <vector>

#include "app/parts.hpp"
#include "app/record_plan.hpp"
#include "integrations/kernelbench/judge_run.hpp"
#include "integrations/kernelbench/run_folder.hpp"

namespace hone {
namespace {

struct LevelSource {
  std::string task, name, text;
};
struct LevelPlans {
  std::size_t total = 0, whole = 0;
  std::map<std::string, std::size_t> reasons;  ///< by reason: the number of sources without a plan

  void add(const std::string& problem) {
    ++total;
    problem.empty() ? ++whole : ++reasons[problem.substr(0, problem.find(" (submission.py"))];
  }
};

Result<std::vector<LevelSource>> sources_of(const std::vector<Problem>& problems,
                                            const LevelPlanRequest& request) {
  std::vector<LevelSource> sources;
  if (request.folder.empty()) {
    for (const Problem& problem : problems)
      sources.push_back({problem.task_id, problem.task_id, ""});
    return sources;
  }
  HONE_ASSIGN(const Generations generations, list_generations(request.folder, request.level));
  for (const Generation& one : generations.of_level) {
    HONE_ASSIGN(const Problem* problem, problem_of(problems, request.level, one));
    HONE_ASSIGN(std::string text, read_generation(one));
    sources.push_back({problem->task_id, one.file.filename().string(), std::move(text)});
  }
  return sources;
}

void report_source(Terminal& terminal, const LevelSource& one, const std::string& problem,
                   std::size_t bytes, bool json) {
  if (json) {
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

void report_level(Terminal& terminal, const LevelPlans& found, bool json) {
  if (json) {
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

}  // namespace

int record_level(Terminal& terminal, const LoadedConfig& loaded, const LevelPlanRequest& request) {
  const auto dataset = kernelbench_dataset(loaded.config, request.dataset);
  if (!dataset) return terminal.fail(dataset.error());
  auto recorder = PlanRecorder::start(loaded, show_steps(terminal));
  if (!recorder) return terminal.fail(recorder.error(), next_step(recorder.error()));
  const auto problems = problems_of((*recorder)->catalog(), *dataset, request.level);
  if (!problems) return terminal.fail(problems.error());
  const auto sources = sources_of(*problems, request);
  if (!sources) return terminal.fail(sources.error());
  LevelPlans found;
  for (const LevelSource& one : *sources) {
    terminal.status(std::to_string(found.total) + "/" + std::to_string(sources->size()) + "  " +
                    one.name);
    const auto recording = (*recorder)->record(one.task, one.text);
    const std::string problem = recording ? recording->problem : recording.error().message;
    const std::size_t bytes = problem.empty() ? recording->plan->bytes.size() : 0;
    found.add(problem);
    report_source(terminal, one, problem, bytes, request.json);
  }
  terminal.clear_status();
  report_level(terminal, found, request.json);
  return kExitOk;
}

}  // namespace hone
