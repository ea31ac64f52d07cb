// Makes the table and the JSON of a run from the same samples.
#include "integrations/kernelbench/run_report.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

constexpr std::size_t kReasonMax =
    100;  // longest reason in a table's cell; the table of counts has the full text
constexpr char kNotJudged[] = "not_judged";

std::string text_of(const Value& sample, std::string_view key) {
  return text_or_empty(member_or_nil(sample, key));
}

std::string words_of(const std::string& outcome) {
  return outcome == kNotJudged ? "not judged" : outcome;
}

/// The reason without the task's name, because several problems may have the same reason.
std::string reason_of(const std::string& message, const Problem* problem) {
  if (problem == nullptr || !message.starts_with(problem->task_id)) return message;
  const std::size_t begin = message.find_first_not_of(": ", problem->task_id.size());
  return begin == std::string::npos ? message : message.substr(begin);
}

std::string files_text(std::size_t count) {
  return count == 1 ? "1 file" : std::to_string(count) + " files";
}

}  // namespace

const Problem* JudgedRun::find_problem(std::int64_t number) const {
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [number](const Problem& one) { return one.number == number; });
  return found == problems.end() ? nullptr : &*found;
}

Value RunReport::result(const Problem& problem, const SampleResult& result) const {
  const auto speedup = speedup_of(request_.analysis, problem, result);
  return Value::map({{"problem_id", problem.number},
                     {"sample_id", result.sample},
                     {"name", problem.title},
                     {"outcome", result.outcome},
                     {"compiled", result.compiled},
                     {"correctness", result.correct},
                     {"speedup", speedup ? Value(*speedup) : Value()},
                     {"reason", result.reason}});
}

Value RunReport::sample(std::int64_t number, std::int64_t sample) const {
  const Problem* problem = run_.find_problem(number);
  const auto fault = run_.not_judged.find({number, sample});
  if (fault == run_.not_judged.end()) {
    return result(*problem, *run_.results->find(number, sample));
  }
  return Value::map({{"problem_id", number},
                     {"sample_id", sample},
                     {"name", problem == nullptr ? "" : problem->title},
                     {"outcome", kNotJudged},
                     {"error", fault->second}});
}

Value RunReport::samples() const {
  Value listed = Value::array();
  for (const Problem& problem : run_.problems) {
    for (const SampleResult* result : run_.results->all()) {
      if (result->problem != problem.number) continue;
      if (run_.not_judged.contains({result->problem, result->sample})) continue;
      listed.push(sample(result->problem, result->sample));
    }
    for (const auto& [key, message] : run_.not_judged) {
      if (key.first == problem.number) listed.push(sample(key.first, key.second));
    }
  }
  for (const auto& [key, message] : run_.not_judged) {
    if (run_.find_problem(key.first) == nullptr) listed.push(sample(key.first, key.second));
  }
  return listed;
}

int RunReport::finish() const {
  std::set<std::int64_t> not_judged_problems;
  for (const auto& [key, message] : run_.not_judged) {
    if (key.second == 0) not_judged_problems.insert(key.first);
  }
  const Analysis analysis =
      analyse(request_.analysis, run_.problems, *run_.results, not_judged_problems);
  const Value listed = samples();
  std::set<std::int64_t> unknown = unknown_problems();
  for (const auto& [key, message] : run_.not_judged) {
    if (run_.find_problem(key.first) == nullptr) unknown.insert(key.first);
  }
  Value other_levels = Value::map();
  for (const auto& [level, files] : run_.other_levels) {
    other_levels.set(std::to_string(level), files);
  }
  Value report = to_value(analysis);
  report.set("outcomes", counts());
  report.set("not_judged_samples", not_judged());
  report.set("refused", refused());
  report.set("unknown_problems", Value::Array(unknown.begin(), unknown.end()));
  report.set("other_levels", std::move(other_levels));
  if (!request_.output.empty()) {
    const std::string text = to_json(Value(report).set("samples", listed), 2) + "\n";
    if (const Status kept = write_file(request_.output, text); !kept) {
      return terminal_.fail(kept.error());
    }
  }
  if (request_.json) {
    terminal_.json(report.set("type", "summary"));
  } else {
    print_samples(listed);
    print(terminal_, analysis);
    print_counts(listed);
    print_passed_over();
  }
  return run_.not_judged.empty() && run_.results->refused().empty() ? kExitOk : kExitFault;
}

/// Numbers of samples by outcome.
Value RunReport::counts() const {
  std::map<std::string, std::int64_t> counts;
  const Value listed = samples();
  for (const Value& sample : listed.as_array()) ++counts[text_of(sample, "outcome")];
  Value report = Value::map();
  for (const auto& [outcome, count] : counts) report.set(outcome, count);
  return report;
}

/// Numbers of samples by reason.
Value RunReport::not_judged() const {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [key, message] : run_.not_judged) {
    ++counts[reason_of(message, run_.find_problem(key.first))];
  }
  Value report = Value::array();
  for (const auto& [reason, count] : counts) {
    report.push(Value::map({{"reason", reason}, {"samples", count}}));
  }
  return report;
}

Value RunReport::refused() const {
  Value listed = Value::array();
  for (const RefusedEntry& one : run_.results->refused()) {
    listed.push(Value::map({{"problem_id", one.problem},
                            {"sample_id", one.sample ? Value(*one.sample) : Value()},
                            {"error", one.why},
                            {"judged_again", one.judged}}));
  }
  return listed;
}

/// Problems that have results but are not in the level.
std::set<std::int64_t> RunReport::unknown_problems() const {
  std::set<std::int64_t> unknown;
  for (const SampleResult* result : run_.results->all()) unknown.insert(result->problem);
  for (const RefusedEntry& one : run_.results->refused()) unknown.insert(one.problem);
  for (const Problem& problem : run_.problems) unknown.erase(problem.number);
  return unknown;
}

void RunReport::print_samples(const Value& samples) const {
  std::vector<Row> rows;
  for (const Value& sample : samples.as_array()) {
    const std::string outcome = text_of(sample, "outcome");
    const bool correct = outcome == "correct";
    const Value* speedup = sample.find("speedup");
    const bool measured = speedup != nullptr && speedup->is_number();
    rows.push_back({{std::to_string(sample.find("problem_id")->as_int()), Colour::kPlain, true},
                    {text_of(sample, "name"), Colour::kBold},
                    {std::to_string(sample.find("sample_id")->as_int()), Colour::kPlain, true},
                    {words_of(outcome), outcome == kNotJudged ? Colour::kYellow
                                        : correct             ? Colour::kGreen
                                                              : Colour::kRed},
                    {measured  ? short_number(speedup->as_double()) + "×"
                     : correct ? "not measured"
                               : "",
                     Colour::kPlain, true},
                    {cut_end(correct ? "" : text_of(sample, "reason") + text_of(sample, "error"),
                             kReasonMax)}});
  }
  terminal_.table({"problem", "name", "sample", "outcome", "speedup", "why"}, rows);
  terminal_.line();
}

/// Correct and wrong first, then other outcomes, then the reasons why samples were not judged.
void RunReport::print_counts(const Value& samples) const {
  std::map<std::string, std::size_t> counts = {{"correct", 0}, {"wrong", 0}};
  for (const Value& sample : samples.as_array()) {
    const std::string outcome = text_of(sample, "outcome");
    if (outcome != kNotJudged) ++counts[outcome];
  }
  std::vector<Row> rows;
  const auto add = [&rows](const std::string& outcome, std::size_t count, const std::string& why) {
    rows.push_back({{outcome}, {std::to_string(count), Colour::kPlain, true}, {why}});
  };
  for (const char* first : {"correct", "wrong"}) add(first, counts[first], "");
  for (const auto& [outcome, count] : counts) {
    if (outcome != "correct" && outcome != "wrong") add(outcome, count, "");
  }
  const Value reasons = not_judged();
  for (const Value& one : reasons.as_array()) {
    add(words_of(kNotJudged), static_cast<std::size_t>(one.find("samples")->as_int()),
        one.find("reason")->as_string());
  }
  terminal_.line();
  terminal_.table({"outcome", "samples", "why"}, rows);
}

/// Prints the files and results that do not count.
void RunReport::print_passed_over() const {
  for (const RefusedEntry& one : run_.results->refused()) {
    terminal_.line(one.why + (one.judged ? "; it was judged again" : "; it is not counted"));
  }
  std::string unknown;
  for (const std::int64_t problem : unknown_problems()) {
    unknown += (unknown.empty() ? "" : ", ") + std::to_string(problem);
  }
  if (!unknown.empty()) {
    terminal_.line("eval_results.json has results of problems that are not in level " +
                   std::to_string(request_.analysis.level) + " and are not counted: " + unknown);
  }
  for (const auto& [level, files] : run_.other_levels) {
    terminal_.line(request_.folder.string() + ": found " + files_text(files) + " of level " +
                   std::to_string(level) + ", not judged, because the level is " +
                   std::to_string(request_.analysis.level));
  }
  if (run_.kept > 0) {
    terminal_.line((run_.kept == 1 ? "1 sample had a result and was"
                                   : std::to_string(run_.kept) + " samples had a result and were") +
                   " not judged again; use --again to do so");
  }
}

}  // namespace hone
