// Extracts code from runs and traces in the way that a step does.
#include "bench/module_mix.hpp"

#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/log.hpp"
#include "integrations/kernelbench/judge_run.hpp"

namespace hone {
namespace {

class MixReader {
 public:
  MixReader(const MixRequest& request, const MixTraces& traces, const Config& config,
            const Catalog& catalog, const Environment& environment)
      : request_(request),
        traces_(traces),
        config_(config),
        catalog_(catalog),
        environment_(environment) {}

  Result<ModuleMix> read() {
    for (const std::string& run : request_.runs) HONE_TRY(add_run(run));
    HONE_TRY(add_traces());
    return std::move(mix_);
  }

 private:
  Status add_run(const std::string& folder) {
    HONE_ASSIGN(const std::string dataset, kernelbench_dataset(config_, ""));
    HONE_ASSIGN(const auto problems, problems_of(catalog_, dataset, request_.level));
    HONE_ASSIGN(const auto generations, list_generations(folder, request_.level));
    for (const Generation& generation : generations.of_level) {
      const auto problem = problem_of(problems, request_.level, generation);
      if (!problem) return problem.error().in(folder);
      HONE_ASSIGN(const std::string source, read_generation(generation));
      HONE_TRY(add((*problem)->task_id, (*problem)->task_id, Value::map({{"code", source}})));
    }
    return {};
  }

  Status add_traces() {
    for (const BrokenRow& row : traces_.file.broken) {
      log_warning("bench", request_.traces + ": not read: " + row.what);
    }
    for (const RecordedTrace& trace : traces_.file.traces) {
      for (const RecordedTurn& turn : trace.turns) {
        if (turn.generated) {
          HONE_TRY(add(trace.task_id(), trace.name(), turn.action()));
        } else {
          ++mix_.without_code;
        }
      }
    }
    return {};
  }

  Status add(const std::string& task_id, const std::string& episode, const Value& action) {
    const auto task = catalog_.find_for(config_.backend, task_id);
    if (!task) return without_verbs(task.error());
    auto prepared = prepare_turn(environment_, *task, config_.backend, action);
    if (!prepared) return prepared.error().in(task_id);
    if (auto* submission = std::get_if<Submission>(&*prepared)) {
      submission->client = "bench";
      submission->episode = submission->group = episode;
      mix_.submissions.push_back(std::move(*submission));
    } else {
      ++mix_.without_code;
    }
    return {};
  }

  const MixRequest& request_;
  const MixTraces& traces_;
  const Config& config_;
  const Catalog& catalog_;
  const Environment& environment_;
  ModuleMix mix_;
};

}  // namespace

Status MixRequest::check(const std::string& what, bool has_task) const {
  const char* first = !runs.empty()     ? "--run"
                      : level != 0      ? "--level"
                      : !traces.empty() ? "--traces"
                      : !keys.empty()   ? "--trace"
                      : in_flight > 0   ? "--in-flight"
                                        : nullptr;
  if (what != "modules") {
    if (first == nullptr) return {};
    return invalid_argument(std::string(first) + ": allowed only with modules, not with " + what);
  }
  if (!runs.empty() && level == 0) {
    return invalid_argument(
        "--run: needs --level, too: the KernelBench level of its problems, as in --level 1");
  }
  if (runs.empty() && level != 0)
    return invalid_argument("--level: needs --run, too: the folder of a run");
  if (traces.empty() && !keys.empty())
    return invalid_argument("--trace: needs --traces, too: the file of traces");
  if (empty() && in_flight > 0)
    return invalid_argument("--in-flight: needs --run or --traces, too");
  if (!empty() || has_task) return {};
  return invalid_argument(
      "modules: found neither a task nor a mix, expected --task kernelbench/level1/19, for "
      "example, "
      "or --run DIR --level 1, or --traces FILE");
}

Result<MixTraces> MixTraces::open(const MixRequest& request, Config& config) {
  MixTraces traces;
  if (request.traces.empty()) return traces;
  HONE_ASSIGN(traces.file, read_trace_file(request.traces, request.keys));
  HONE_ASSIGN(traces.tasks, TraceTasks::write(traces.file));
  if (traces.file.tasks.as_array().empty()) return traces;
  DatasetConfig dataset = traces.tasks->dataset();
  std::erase_if(config.datasets,
                [&dataset](const DatasetConfig& one) { return one.name == dataset.name; });
  config.datasets.push_back(std::move(dataset));
  return traces;
}

Result<ModuleMix> read_mix(const MixRequest& request, const MixTraces& traces, const Config& config,
                           const Catalog& catalog, const Environment& environment) {
  return MixReader(request, traces, config, catalog, environment).read();
}

}  // namespace hone
