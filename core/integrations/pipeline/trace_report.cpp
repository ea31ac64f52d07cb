// One table of all turns, or JSON.
#include "integrations/pipeline/trace_report.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.hpp"

namespace hone {
namespace {

constexpr std::size_t kWhyMax = 160;  // length of a table's cell; --json has the complete text

std::string times(const std::optional<double>& speedup) {
  return speedup ? short_number(*speedup) + "×" : "";
}

Value summary(const JudgedTraces& traces, const TraceCounts& counts) {
  Value broken = Value::array();
  for (const BrokenRow& row : traces.recorded.broken) {
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

void print_broken(Terminal& terminal, const TraceFile& recorded) {
  if (recorded.broken.empty()) return;
  terminal.line();
  terminal.line("rows and turns that cannot be read: " + std::to_string(recorded.broken.size()));
  for (const BrokenRow& row : recorded.broken) {
    terminal.line("  " + (row.key.empty() ? "" : row.key + ", ") + row.what);
  }
}

Row row_of(const TraceComparison& turn) {
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

void print_turns(Terminal& terminal, const JudgedTraces& traces, const TraceCounts& counts) {
  std::vector<Row> rows;
  for (const TraceComparison& turn : traces.turns) rows.push_back(row_of(turn));
  terminal.table(
      {"trace", "turn", "recorded", "recorded speedup", "hone", "hone's speedup", "", "why"}, rows);
  terminal.line();
  const auto cell = [](std::size_t count) {
    return Cell(std::to_string(count), Colour::kPlain, true);
  };
  terminal.table({"turns", "agree", "differ", "not recorded", "not generated", "not judged",
                  "correct", "wrong", "other"},
                 {{cell(counts.turns), cell(counts.agree), cell(counts.differ),
                   cell(counts.not_recorded), cell(counts.not_generated), cell(counts.not_judged),
                   cell(counts.correct), cell(counts.wrong), cell(counts.other)}});
  print_broken(terminal, traces.recorded);
}

}  // namespace

int report_traces(Terminal& terminal, const JudgedTraces& traces, bool json) {
  TraceCounts counts;
  for (const TraceComparison& turn : traces.turns) counts.add(turn);
  if (json) {
    terminal.json(summary(traces, counts));
  } else {
    print_turns(terminal, traces, counts);
  }
  if (counts.not_judged > 0) return kExitFault;
  if (!traces.recorded.broken.empty()) return kExitUsage;
  return counts.differ > 0 ? kExitNo : kExitOk;
}

int report_read_traces(Terminal& terminal, const JudgedTraces& traces, bool json) {
  bool all = true;
  std::vector<Row> rows;
  TraceCounts counts;
  for (std::size_t i = 0; i < traces.turns.size(); ++i) {
    const TraceComparison& turn = traces.turns[i];
    const bool found = turn.recorded->generated && !turn.now.has_value();
    // The task could not be read, so its responses were not searched for code.
    const bool unread = turn.now.has_value() && !*turn.now;
    const auto lines = std::count(traces.sources[i].begin(), traces.sources[i].end(), '\n');
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
  if (json) {
    terminal.json(summary(traces, counts));
  } else {
    terminal.table({"trace", "turn", "recorded", "speedup", "code", "why not"}, rows);
    print_broken(terminal, traces.recorded);
  }
  if (!traces.recorded.broken.empty()) return kExitUsage;
  return all ? kExitOk : kExitNo;
}

}  // namespace hone
