// Interprets each response as a step does. All turns get the same inputs.
#include "integrations/pipeline/judge_traces.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "integrations/pipeline/trace_report.hpp"
#include "integrations/pipeline/trace_tasks.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

class TraceJudge {
 public:
  TraceJudge(Terminal& terminal, const TracesRequest& request)
      : terminal_(terminal), request_(request) {}

  int run(LoadedConfig loaded) {
    if (const Status done = read(); !done) return terminal_.fail(done.error());
    const auto tasks = TraceTasks::write(traces_.recorded);
    if (!tasks) return terminal_.fail(tasks.error());
    Config& config = loaded.config;
    config.journal.path.clear();  // as for the episodes of a server
    config.datasets.clear();
    if (!traces_.recorded.tasks.as_array().empty()) config.datasets.push_back(tasks->dataset());
    const auto environment = open_kernel_refine(config);
    if (!environment) return terminal_.fail(environment.error());
    if (request_.read_only) {
      const auto registry = open_registry(config);
      const auto catalog = open_catalog(config, *registry);
      if (!catalog) return terminal_.fail(catalog.error());
      Progress progress(terminal_, "", traces_.turns.size());
      while (next(progress, config.backend, **catalog, **environment)) {
      }
      return report_read_traces(terminal_, traces_, request_.json);
    }
    auto host = Host::start(loaded, show_steps(terminal_));
    if (!host) return terminal_.fail(host.error(), next_step(host.error()));
    Progress progress(terminal_, "", traces_.turns.size());
    const Catalog& catalog = (*host)->catalog();
    evaluate_each(
        progress, (*host)->evaluator(),
        [&] { return next(progress, config.backend, catalog, **environment); },
        [&](std::size_t i, const Result<Verdict>& result) {
          TraceComparison& turn = traces_.turns[waiting_[i]];
          turn.now = result;
          stream(turn.to_value());
        });
    return report_traces(terminal_, traces_, request_.json);
  }

 private:
  Status read() {
    HONE_ASSIGN(traces_.recorded, read_trace_file(request_.file, request_.keys));
    for (const RecordedTrace& trace : traces_.recorded.traces) {
      for (const RecordedTurn& turn : trace.turns) traces_.turns.push_back({&trace, &turn, {}});
    }
    traces_.sources.resize(traces_.turns.size());
    return {};
  }

  void stream(Value turn) const {
    if (request_.json) terminal_.json(turn.set("type", "result"));
  }

  /// Interprets responses as a step does, up to the next one with code to build; none at the end.
  std::optional<Submission> next(Progress& progress, const std::string& backend,
                                 const Catalog& catalog, const Environment& environment) {
    while (next_ < traces_.turns.size()) {
      const std::size_t i = next_++;
      TraceComparison& turn = traces_.turns[i];
      std::optional<Submission> submission;
      if (turn.recorded->generated) {
        progress.show("reading " + turn.trace->name());
        submission = prepare(turn, backend, catalog, environment);
        if (!submission) progress.count(*turn.now);
      } else {
        progress.leave_out();
      }
      if (submission) {
        traces_.sources[i] = submission->source;
        waiting_.push_back(i);
      }
      if (request_.read_only) {
        stream(turn.to_value().set("code", traces_.sources[i]));
      } else if (!submission) {
        stream(turn.to_value());
      }
      if (submission) return submission;
    }
    return {};
  }

  /// None if the turn already has a verdict or an error.
  std::optional<Submission> prepare(TraceComparison& turn, const std::string& backend,
                                    const Catalog& catalog, const Environment& environment) const {
    const auto task = catalog.find_for(backend, turn.trace->task_id());
    if (!task) {
      turn.now = task.error();
      return {};
    }
    auto prepared = prepare_turn(environment, *task, backend, turn.recorded->action());
    if (!prepared) {
      turn.now = prepared.error();
      return {};
    }
    if (Verdict* verdict = std::get_if<Verdict>(&*prepared)) {
      turn.now = std::move(*verdict);
      return {};
    }
    Submission& submission = std::get<Submission>(*prepared);
    submission.client = "traces";
    submission.episode = turn.trace->name();
    submission.group = turn.trace->key;
    submission.seed = seed_;
    return std::move(submission);
  }

  Terminal& terminal_;
  const TracesRequest& request_;
  JudgedTraces traces_;
  std::size_t next_ = 0;                     // of the turns
  std::vector<std::size_t> waiting_;         // turns to judge
  const std::uint64_t seed_ = random_u64();  // one seed, so that all turns get the same inputs
};

}  // namespace

int judge_traces(Terminal& terminal, LoadedConfig loaded, const TracesRequest& request) {
  return TraceJudge(terminal, request).run(std::move(loaded));
}

}  // namespace hone
