// `hone traces`: judges the turns of recorded traces again, and compares with the recorded verdicts.
#include <algorithm>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "integrations/pipeline/trace_file.hpp"
#include "integrations/pipeline/trace_tasks.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

constexpr std::size_t kWhyMax = 160;  // length of a table's cell; --json has the complete text

std::string times(const std::optional<double>& speedup) {
  return speedup ? short_number(*speedup) + "×" : "";
}

class TracesCommand : public Command {
 public:
  std::string name() const override { return "traces"; }
  std::string summary() const override {
    return "Judge recorded traces of PyTorch modules again and compare verdicts.";
  }
  std::vector<std::string> examples() const override {
    return {"hone traces traces.json -c modules.yaml   # sets the Python interpreters",
            "hone traces traces.json --trace kernelbook_632 --trace kernelbench_9",
            "hone traces traces.json --read-only   # do not judge"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "FILE",
                  .doc = "JSON list or JSON Lines of traces; a trace has sample_key, pytorch_code, "
                         "and either turns, or triton_code and result",
                  .value = "FILE",
                  .required = true},
                 file_);
    options.texts({.name = "--trace", .doc = "judge only this trace (repeatable)", .value = "KEY"},
                  keys_);
    options.flag({.name = "--read-only", .doc = "print tasks and extracted code without judging"},
                 read_only_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print one JSON line per turn, then a summary"}, json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (const Status done = read(); !done) return terminal.fail(done.error());
    const auto tasks = TraceTasks::write(recorded_);
    if (!tasks) return terminal.fail(tasks.error());
    Config& config = loaded->config;
    config.journal.path.clear();  // as for the episodes of a server
    config.datasets.clear();
    if (!recorded_.tasks.as_array().empty()) config.datasets.push_back(tasks->dataset());
    const auto environment = open_kernel_refine(config);
    if (!environment) return terminal.fail(environment.error());
    if (read_only_) {
      const auto registry = open_registry(config);
      const auto catalog = open_catalog(config, *registry);
      if (!catalog) return terminal.fail(catalog.error());
      Progress progress(terminal, "", turns_.size());
      while (next(terminal, progress, config.backend, **catalog, **environment)) {
      }
      return report_read(terminal);
    }
    auto host = Host::start(*loaded, show_steps(terminal));
    if (!host) return terminal.fail(host.error(), next_step(host.error()));
    Progress progress(terminal, "", turns_.size());
    const Catalog& catalog = (*host)->catalog();
    evaluate_each(
        progress, (*host)->evaluator(),
        [&] { return next(terminal, progress, config.backend, catalog, **environment); },
        [&](std::size_t i, const Result<Verdict>& result) {
          TraceComparison& turn = turns_[waiting_[i]];
          turn.now = result;
          stream(terminal, turn.to_value());
        });
    return report(terminal);
  }

 private:
  Status read() {
    HONE_ASSIGN(recorded_, read_trace_file(file_, keys_));
    for (const RecordedTrace& trace : recorded_.traces) {
      for (const RecordedTurn& turn : trace.turns) turns_.push_back({&trace, &turn, {}});
    }
    sources_.resize(turns_.size());
    return {};
  }

  void stream(Terminal& terminal, Value turn) const {
    if (json_) terminal.json(turn.set("type", "result"));
  }

  /// Interprets responses as a step does, up to the next one with code to build; none at the end.
  std::optional<Submission> next(Terminal& terminal, Progress& progress, const std::string& backend,
                                 const Catalog& catalog, const Environment& environment) {
    while (next_ < turns_.size()) {
      const std::size_t i = next_++;
      TraceComparison& turn = turns_[i];
      std::optional<Submission> submission;
      if (turn.recorded->generated) {
        progress.show("reading " + turn.trace->name());
        submission = prepare(turn, backend, catalog, environment);
        if (!submission) progress.count(*turn.now);
      } else {
        progress.leave_out();
      }
      if (submission) {
        sources_[i] = submission->source;
        waiting_.push_back(i);
      }
      if (read_only_) {
        stream(terminal, turn.to_value().set("code", sources_[i]));
      } else if (!submission) {
        stream(terminal, turn.to_value());
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

  int report(Terminal& terminal) const {
    TraceCounts counts;
    for (const TraceComparison& turn : turns_) counts.add(turn);
    if (json_) {
      terminal.json(summary(counts));
    } else {
      print(terminal, counts);
    }
    if (counts.not_judged > 0) return kExitFault;
    if (!recorded_.broken.empty()) return kExitUsage;
    return counts.differ > 0 ? kExitNo : kExitOk;
  }

  Value summary(const TraceCounts& counts) const {
    Value broken = Value::array();
    for (const BrokenRow& row : recorded_.broken) {
      broken.push(Value::map({{"trace", row.key}, {"error", row.what}}));
    }
    return Value::map({{"type", "summary"},
                       {"turns", counts.turns},
                       {"agree", counts.agree},
                       {"differ", counts.differ},
                       {"not_recorded", counts.not_recorded},
                       {"not_generated", counts.not_generated},
                       {"not_judged", counts.not_judged},
                       {"correct", counts.correct},
                       {"wrong", counts.wrong},
                       {"other", counts.other},
                       {"broken", std::move(broken)}});
  }

  void print(Terminal& terminal, const TraceCounts& counts) const {
    std::vector<Row> rows;
    for (const TraceComparison& turn : turns_) rows.push_back(row_of(turn));
    terminal.table(
        {"trace", "turn", "recorded", "recorded speedup", "hone", "hone's speedup", "", "why"},
        rows);
    terminal.line();
    const auto cell = [](std::size_t count) {
      return Cell(std::to_string(count), Colour::kPlain, true);
    };
    terminal.table({"turns", "agree", "differ", "not recorded", "not generated", "not judged",
                    "correct", "wrong", "other"},
                   {{cell(counts.turns), cell(counts.agree), cell(counts.differ),
                     cell(counts.not_recorded), cell(counts.not_generated), cell(counts.not_judged),
                     cell(counts.correct), cell(counts.wrong), cell(counts.other)}});
    print_broken(terminal);
  }

  void print_broken(Terminal& terminal) const {
    if (recorded_.broken.empty()) return;
    terminal.line();
    terminal.line("rows and turns that cannot be read: " + std::to_string(recorded_.broken.size()));
    for (const BrokenRow& row : recorded_.broken) {
      terminal.line("  " + (row.key.empty() ? "" : row.key + ", ") + row.what);
    }
  }

  static Row row_of(const TraceComparison& turn) {
    std::optional<double> speedup;
    if (turn.judged() && (*turn.now)->speedup) speedup = (*turn.now)->speedup->value;
    const std::string outcome = turn.judged() ? std::string(outcome_name((*turn.now)->outcome))
                                : turn.recorded->generated ? "not judged"
                                                           : "not generated";
    const bool agrees = turn.agrees(), differs = turn.compared() && !agrees;
    return {{turn.trace->name(), Colour::kBold},
            {std::to_string(turn.recorded->turn), Colour::kPlain, true},
            {turn.recorded->word},
            {times(turn.recorded->speedup), Colour::kPlain, true},
            {outcome, !turn.judged()                   ? Colour::kYellow
                      : outcome == turn.recorded->word ? Colour::kPlain
                      : differs                        ? Colour::kRed
                                                       : Colour::kDim},
            {times(speedup), Colour::kPlain, true},
            {differs ? "differs" : "", Colour::kRed},
            {cut_end(turn.why(), kWhyMax), agrees ? Colour::kDim : Colour::kPlain}};
  }

  /// For --read-only: prints what would be judged.
  int report_read(Terminal& terminal) const {
    bool all = true;
    std::vector<Row> rows;
    TraceCounts counts;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const TraceComparison& turn = turns_[i];
      const bool found = turn.recorded->generated && !turn.now.has_value();
      // The task could not be read, so its responses were not searched for code.
      const bool unread = turn.now.has_value() && !*turn.now;
      const auto lines = std::count(sources_[i].begin(), sources_[i].end(), '\n');
      all = all && (found || !turn.recorded->generated);
      ++counts.turns;
      counts.not_generated += !turn.recorded->generated;
      rows.push_back({{turn.trace->name(), Colour::kBold},
                      {std::to_string(turn.recorded->turn), Colour::kPlain, true},
                      {turn.recorded->word},
                      {times(turn.recorded->speedup), Colour::kPlain, true},
                      {found                       ? std::to_string(lines) + " lines"
                       : !turn.recorded->generated ? "not generated"
                       : unread                    ? "not read"
                                                   : "none",
                       found ? Colour::kPlain : Colour::kRed},
                      {cut_end(turn.why(), kWhyMax)}});
    }
    if (json_) {
      terminal.json(summary(counts));
    } else {
      terminal.table({"trace", "turn", "recorded", "speedup", "code", "why not"}, rows);
      print_broken(terminal);
    }
    if (!recorded_.broken.empty()) return kExitUsage;
    return all ? kExitOk : kExitNo;
  }

  ConfigOptions config_;
  std::string file_;
  std::vector<std::string> keys_;
  bool read_only_ = false, json_ = false;
  TraceFile recorded_;  // constant after reading: turns_ point into it
  std::vector<TraceComparison> turns_;
  std::size_t next_ = 0;                     // of turns_
  std::vector<std::string> sources_;         // parallel to turns_
  std::vector<std::size_t> waiting_;         // turns to judge
  const std::uint64_t seed_ = random_u64();  // one seed, so that all turns get the same inputs
};

}  // namespace

std::unique_ptr<Command> make_traces_command() { return std::make_unique<TracesCommand>(); }

}  // namespace hone
