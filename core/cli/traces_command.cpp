// `hone traces`: judges the turns of multi-turn traces again, beside what their own harness said.
#include <algorithm>

#include "base/crypto.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/evaluate_all.hpp"
#include "cli/host.hpp"
#include "cli/one_turn.hpp"
#include "cli/parts.hpp"
#include "cli/trace_file.hpp"
#include "kernel_refine/words.hpp"

namespace hone {
namespace {

constexpr std::size_t kWhyMax = 160;  // of a table's cell; --json has all of it

std::string times(const std::optional<double>& speedup) {
  return speedup ? short_number(*speedup) + "×" : "";
}

class TracesCommand : public Command {
 public:
  std::string name() const override { return "traces"; }
  std::string summary() const override {
    return "Judge recorded traces of PyTorch modules again, beside their own verdicts.";
  }
  std::vector<std::string> examples() const override {
    return {"hone traces traces.json -c modules.yaml   # which names plugins.python and cpu.python",
            "hone traces traces.json --trace kernelbook_632 --trace kernelbench_9",
            "hone traces traces.json --read-only   # tasks and code alone; nothing is judged"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "FILE",
                  .doc = "a JSON list of traces, or JSON Lines: sample_key, pytorch_code, turns",
                  .value = "FILE",
                  .required = true},
                 file_);
    options.texts({.name = "--trace", .doc = "only this one (repeatable)", .value = "KEY"}, keys_);
    options.flag({.name = "--read-only",
                  .doc = "describe the tasks and find the code in the responses; judge nothing"},
                 read_only_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print a list of turns, each with both verdicts"},
                 json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (const Status done = read(); !done) return terminal.fail(done.error());
    Config& config = loaded->config;
    config.journal.path.clear();  // a server's, for episodes
    config.datasets = {traces_dataset(file_)};
    const auto environment = open_kernel_refine(config);
    if (!environment) return terminal.fail(environment.error());
    if (read_only_) {
      const auto registry = open_registry(config);
      const auto catalog = open_catalog(config, *registry);
      if (!catalog) return terminal.fail(catalog.error());
      (void)prepare(terminal, config.backend, **catalog, **environment);
      return report_read(terminal);
    }
    auto host = Host::start(
        *loaded, [&](std::string_view what) { terminal.status(std::string(what) + "…"); });
    if (!host) return terminal.fail(host.error(), next_step(host.error()));
    const std::vector<Submission> submissions =
        prepare(terminal, config.backend, (*host)->catalog(), **environment);
    auto results = evaluate_all(terminal, (*host)->evaluator(), submissions, "");
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      turns_[waiting_[i]].now = std::move(results[i]);
    return report(terminal);
  }

 private:
  Status read() {
    HONE_ASSIGN(traces_, read_trace_file(file_, keys_));
    for (const RecordedTrace& trace : traces_) {
      for (const RecordedTurn& turn : trace.turns) turns_.push_back({&trace, &turn, {}});
    }
    return {};
  }

  /// Takes each response apart as a step does; what has code to build waits for its verdict.
  std::vector<Submission> prepare(Terminal& terminal, const std::string& backend,
                                  const Catalog& catalog, const Environment& environment) {
    std::vector<Submission> submissions;
    const std::uint64_t seed = random_u64();
    sources_.resize(turns_.size());
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      TraceComparison& turn = turns_[i];
      terminal.status("reading " + turn.trace->key + "…");
      const auto task = catalog.find_for(backend, turn.trace->task_id());
      if (!task) {
        turn.now = task.error();
        continue;
      }
      auto prepared = prepare_turn(environment, *task, backend, turn.recorded->action());
      if (!prepared) {
        turn.now = prepared.error();
      } else if (Verdict* verdict = std::get_if<Verdict>(&*prepared)) {
        turn.now = std::move(*verdict);
      } else {
        Submission& submission =
            submissions.emplace_back(std::get<Submission>(std::move(*prepared)));
        sources_[i] = submission.source;
        submission.client = "traces";
        submission.episode = submission.group = turn.trace->key;
        submission.seed = seed;
        waiting_.push_back(i);
      }
    }
    terminal.clear_status();
    return submissions;
  }

  int report(Terminal& terminal) const {
    std::size_t agree = 0, differ = 0, faults = 0;
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const TraceComparison& turn : turns_) {
      ++(!turn.judged() ? faults : turn.agrees() ? agree : differ);
      rows.push_back(row_of(turn));
      listed.push(turn.to_value());
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"trace", "turn", "recorded", "speedup", "hone", "speedup", "", "why"}, rows);
      terminal.line();
      terminal.line(
          kernel_refine::count(static_cast<std::int64_t>(turns_.size()), "turn", "turns") + ": " +
          std::to_string(agree) + " agree, " + std::to_string(differ) + " differ, " +
          std::to_string(faults) + " not judged");
    }
    if (faults > 0) return kExitFault;
    return differ > 0 ? kExitNo : kExitOk;
  }

  static Row row_of(const TraceComparison& turn) {
    std::optional<double> speedup;
    if (turn.judged() && (*turn.now)->speedup) speedup = (*turn.now)->speedup->value;
    const std::string outcome =
        turn.judged() ? std::string(outcome_name((*turn.now)->outcome)) : "not judged";
    const bool agrees = turn.agrees();
    return {{turn.trace->key, Colour::kBold},
            {std::to_string(turn.recorded->turn), Colour::kPlain, true},
            {turn.recorded->word},
            {times(turn.recorded->speedup), Colour::kPlain, true},
            {outcome, !turn.judged()                   ? Colour::kYellow
                      : outcome == turn.recorded->word ? Colour::kPlain
                      : agrees                         ? Colour::kDim
                                                       : Colour::kRed},
            {times(speedup), Colour::kPlain, true},
            {!turn.judged() || agrees ? "" : "differs", Colour::kRed},
            {cut_end(turn.why(), kWhyMax), agrees ? Colour::kDim : Colour::kPlain}};
  }

  /// Of --read-only: what would be judged.
  int report_read(Terminal& terminal) const {
    bool all = true;
    std::vector<Row> rows;
    Value listed = Value::array();
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const TraceComparison& turn = turns_[i];
      const bool found = !turn.now.has_value();
      const bool unread = !found && !*turn.now;  // its task could not be: nothing was looked for
      const auto lines = std::count(sources_[i].begin(), sources_[i].end(), '\n');
      all = all && found;
      rows.push_back({{turn.trace->key, Colour::kBold},
                      {std::to_string(turn.recorded->turn), Colour::kPlain, true},
                      {turn.recorded->word},
                      {times(turn.recorded->speedup), Colour::kPlain, true},
                      {found    ? std::to_string(lines) + " lines"
                       : unread ? "not read"
                                : "none",
                       found ? Colour::kPlain : Colour::kRed},
                      {cut_end(turn.why(), kWhyMax)}});
      listed.push(turn.to_value().set("code", sources_[i]));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"trace", "turn", "recorded", "speedup", "code", "why not"}, rows);
    }
    return all ? kExitOk : kExitNo;
  }

  ConfigOptions config_;
  std::string file_;
  std::vector<std::string> keys_;
  bool read_only_ = false, json_ = false;
  std::vector<RecordedTrace> traces_;  // fixed once read: turns_ point into it
  std::vector<TraceComparison> turns_;
  std::vector<std::string> sources_;  // beside turns_
  std::vector<std::size_t> waiting_;  // those that are judged
};

}  // namespace

std::unique_ptr<Command> make_traces_command() { return std::make_unique<TracesCommand>(); }

}  // namespace hone
