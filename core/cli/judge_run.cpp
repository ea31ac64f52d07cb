// A result is on the disk before the next one is waited for: what is interrupted goes on.
#include "cli/judge_run.hpp"

#include <algorithm>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "cli/evaluate_all.hpp"
#include "cli/host.hpp"
#include "cli/levels.hpp"
#include "cli/one_turn.hpp"
#include "cli/parts.hpp"
#include "cli/run_lock.hpp"
#include "cli/stop_signals.hpp"

namespace hone {
namespace {

constexpr std::size_t kReasonMax = 100;  // of a table's cell; the results have all of it

/// nullptr: the level has no such problem.
const Problem* find_problem(const std::vector<Problem>& problems, std::int64_t number) {
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [number](const Problem& one) { return one.number == number; });
  return found == problems.end() ? nullptr : &*found;
}

/// Of one generation: what is waited for.
struct Waiting {
  const Generation* generation;
  std::string source_hash;
};

class RunJudge {
 public:
  RunJudge(Terminal& terminal, const RunRequest& request)
      : terminal_(terminal), request_(request) {}

  int run(LoadedConfig loaded) {
    const Status done = request_.judge ? judge(std::move(loaded)) : read(loaded);
    if (!done) return terminal_.fail(done.error(), next_step(done.error()));
    return report();
  }

 private:
  /// What there is: generations, results and the level's problems.
  Status open(const Catalog& catalog, const std::string& dataset) {
    HONE_ASSIGN(problems_, problems_of(catalog, dataset, request_.analysis.level));
    HONE_ASSIGN(results_, EvalResults::read(request_.folder / "eval_results.json"));
    return {};
  }

  Status read(const LoadedConfig& loaded) {
    HONE_ASSIGN(const std::string dataset, kernelbench_dataset(loaded.config, request_.dataset));
    const auto registry = open_registry(loaded.config);
    HONE_ASSIGN(const auto catalog, open_catalog(loaded, *registry));
    HONE_TRY(open(*catalog, dataset));
    if (results_->all().empty() && results_->refused().empty()) {
      return not_found((request_.folder / "eval_results.json").string() +
                       ": found no results, expected those of: hone kernelbench eval");
    }
    return {};
  }

  Status judge(LoadedConfig loaded) {
    loaded.config.journal.path.clear();  // a server's, for episodes
    HONE_ASSIGN(const std::string dataset, kernelbench_dataset(loaded.config, request_.dataset));
    HONE_ASSIGN(generations_, list_generations(request_.folder, request_.analysis.level));
    std::erase_if(generations_, [this](const Generation& one) {
      return !request_.wants(one.problem) ||
             (request_.samples > 0 && one.sample >= request_.samples);
    });
    HONE_ASSIGN(const RunLock lock, RunLock::take(request_.folder));
    HONE_ASSIGN(const auto environment, open_kernel_refine(loaded.config));
    const std::string backend = loaded.config.backend;
    HONE_TRY(say_when_stopped("hone: stopped; the same command goes on from the results in " +
                              request_.folder.string()));
    HONE_ASSIGN(const auto host, Host::start(std::move(loaded), [this](std::string_view what) {
                  terminal_.status(std::string(what) + "…");
                }));
    HONE_TRY(open(host->catalog(), dataset));
    HONE_ASSIGN(const std::vector<Submission> submissions,
                prepare(host->catalog(), backend, *environment));
    Status written;
    evaluate_all(terminal_, host->evaluator(), submissions, request_.folder.string() + ": ",
                 [&](std::size_t i, const Result<Verdict>& result) {
                   take(*waiting_[i].generation, waiting_[i].source_hash, result);
                   if (const Status kept = results_->write(); !kept) written = kept;
                 });
    return written;
  }

  /// A verdict is a result; a fault is none, and the generation is judged the next time.
  void take(const Generation& generation, const std::string& source_hash,
            const Result<Verdict>& result) {
    if (result) {
      results_->put(generation, source_hash, *result);
      changed_ = true;
    } else {
      faults_[{generation.problem, generation.sample}] = printable(result.error().message);
    }
  }

  /// What is to be judged of a generation; none where nothing is left to. What is wrong with its
  /// file is an error, and no other generation's business.
  Result<std::optional<Submission>> prepare(const Generation& generation, const Catalog& catalog,
                                            const std::string& backend,
                                            const Environment& environment) {
    if (const Generation* other = twin_of(generation)) {
      return invalid_argument("found two files of this sample, " +
                              generation.file.filename().string() + " and " +
                              other->file.filename().string() + "; expected one");
    }
    HONE_ASSIGN(const Problem* const problem,
                hone::problem_of(problems_, request_.analysis.level, generation));
    HONE_ASSIGN(const std::string source, read_generation(generation));
    const std::string hash = sha256_hex(source);
    if (!request_.again && results_->has(generation, hash)) {
      ++kept_;
      return std::optional<Submission>();
    }
    terminal_.status("reading " + problem->task_id + "…");
    HONE_ASSIGN(const auto task, catalog.find_for(backend, problem->task_id));
    HONE_ASSIGN(auto prepared,
                prepare_turn(environment, task, backend, Value::map({{"code", source}})));
    if (const Verdict* verdict = std::get_if<Verdict>(&prepared)) {
      take(generation, hash, *verdict);
      return std::optional<Submission>();
    }
    waiting_.push_back({&generation, hash});
    Submission& submission = std::get<Submission>(prepared);
    submission.client = "eval";
    submission.episode = generation.file.string();
    submission.group = problem->task_id;
    submission.seed = seed_;
    return std::optional(std::move(submission));
  }

  Result<std::vector<Submission>> prepare(const Catalog& catalog, const std::string& backend,
                                          const Environment& environment) {
    std::vector<Submission> submissions;
    for (const Generation& generation : generations_) {
      auto prepared = prepare(generation, catalog, backend, environment);
      if (!prepared) {
        take(generation, "", prepared.error());
      } else if (*prepared) {
        submissions.push_back(std::move(**prepared));
      }
    }
    if (changed_) HONE_TRY(results_->write());
    return submissions;
  }

  /// Another file of the same sample, such as problem_019 beside problem_19: a neighbour, for they
  /// are in order.
  const Generation* twin_of(const Generation& one) const {
    const auto same = [&one](const Generation& other) {
      return other.problem == one.problem && other.sample == one.sample;
    };
    if (&one != &generations_.front() && same(*(&one - 1))) return &one - 1;
    if (&one != &generations_.back() && same(*(&one + 1))) return &one + 1;
    return nullptr;
  }

  const Problem* problem_of(std::int64_t number) const { return find_problem(problems_, number); }

  /// A refused entry whose sample was not judged since is one that was not judged.
  void take_refused() {
    for (const RefusedEntry& one : results_->refused()) {
      if (one.judged || !one.sample) continue;
      faults_.try_emplace({one.problem, *one.sample}, one.why);
    }
  }

  /// Those of results that the level lacks.
  std::set<std::int64_t> unknown_problems() const {
    std::set<std::int64_t> unknown;
    for (const SampleResult* result : results_->all()) unknown.insert(result->problem);
    for (const RefusedEntry& one : results_->refused()) unknown.insert(one.problem);
    for (const Problem& problem : problems_) unknown.erase(problem.number);
    return unknown;
  }

  int report() {
    take_refused();
    std::set<std::int64_t> not_judged;
    for (const auto& [key, message] : faults_) {
      if (key.second == 0) not_judged.insert(key.first);
    }
    const Analysis analysis = analyse(request_.analysis, problems_, *results_, not_judged);
    Value told = to_value(analysis);
    told.set("samples", samples());
    told.set("refused", refused());
    std::set<std::int64_t> unknown = unknown_problems();
    for (const auto& [key, message] : faults_) {
      if (problem_of(key.first) == nullptr) unknown.insert(key.first);
    }
    told.set("unknown_problems", Value::Array(unknown.begin(), unknown.end()));
    if (!request_.output.empty()) {
      if (const Status kept = write_file(request_.output, to_json(told, 2) + "\n"); !kept) {
        return terminal_.fail(kept.error());
      }
    }
    if (request_.json) {
      terminal_.json(told, 2);
    } else {
      print_table();
      print(terminal_, analysis);
      print_refused();
      print_long_faults();
      const std::string had = kept_ == 1 ? "1 sample had a result and was"
                                         : std::to_string(kept_) + " samples had a result and were";
      if (kept_ > 0) terminal_.line(had + " not judged again (--again does)");
    }
    return faults_.empty() && results_->refused().empty() ? kExitOk : kExitFault;
  }

  Value refused() const {
    Value listed = Value::array();
    for (const RefusedEntry& one : results_->refused()) {
      listed.push(Value::map({{"problem_id", one.problem},
                              {"sample_id", one.sample ? Value(*one.sample) : Value()},
                              {"error", one.why},
                              {"judged_again", one.judged}}));
    }
    return listed;
  }

  /// What the table had no room for, once where several have it: what to do stands at its end.
  void print_long_faults() const {
    std::map<std::string, std::size_t> counts;
    for (const auto& [key, message] : faults_) {
      const Problem* problem = problem_of(key.first);
      const std::size_t at =
          problem == nullptr ? std::string::npos : message.find(problem->task_id);
      std::string text = message;
      if (at == 0) text.erase(0, text.find_first_not_of(": ", problem->task_id.size()));
      if (message.size() > kReasonMax) ++counts[text];
    }
    for (const RefusedEntry& one : results_->refused()) counts.erase(one.why);
    for (const auto& [text, count] : counts) {
      terminal_.line("not judged" + (count > 1 ? " (" + std::to_string(count) + " samples)" : "") +
                     ": " + text);
    }
  }

  void print_refused() const {
    for (const RefusedEntry& one : results_->refused()) {
      terminal_.line(one.why + (one.judged ? "; it was judged anew" : "; it counts for nothing"));
    }
    std::string unknown;
    for (const std::int64_t problem : unknown_problems()) {
      unknown += (unknown.empty() ? "" : ", ") + std::to_string(problem);
    }
    if (unknown.empty()) return;
    terminal_.line("eval_results.json has results of problems that level " +
                   std::to_string(request_.analysis.level) +
                   " lacks, which count for nothing: " + unknown);
  }

  Value samples() const {
    Value listed = Value::array();
    for (const Problem& problem : problems_) {
      for (const SampleResult* result : results_->all()) {
        if (result->problem != problem.number) continue;
        if (faults_.contains({result->problem, result->sample})) continue;
        const auto speedup = speedup_of(request_.analysis, problem, *result);
        listed.push(Value::map({{"problem_id", problem.number},
                                {"sample_id", result->sample},
                                {"name", problem.title},
                                {"outcome", result->outcome},
                                {"compiled", result->compiled},
                                {"correctness", result->correct},
                                {"speedup", speedup ? Value(*speedup) : Value()},
                                {"reason", result->reason}}));
      }
      for (const auto& [key, message] : faults_) {
        if (key.first == problem.number) listed.push(fault(key.first, key.second, message));
      }
    }
    for (const auto& [key, message] : faults_) {
      if (problem_of(key.first) == nullptr) listed.push(fault(key.first, key.second, message));
    }
    return listed;
  }

  Value fault(std::int64_t number, std::int64_t sample, const std::string& message) const {
    const Problem* problem = problem_of(number);
    return Value::map({{"problem_id", number},
                       {"sample_id", sample},
                       {"name", problem == nullptr ? "" : problem->title},
                       {"outcome", Value()},
                       {"error", message}});
  }

  void print_table() const {
    const auto text = [](const Value& sample, std::string_view key) {
      const Value* found = sample.find(key);
      return found != nullptr && found->is_string() ? found->as_string() : std::string();
    };
    std::vector<Row> rows;
    const Value listed = samples();
    for (const Value& sample : listed.as_array()) {
      const std::string outcome = text(sample, "outcome");
      const bool correct = outcome == "correct";
      const Value* speedup = sample.find("speedup");
      const bool measured = speedup != nullptr && speedup->is_number();
      rows.push_back(
          {{std::to_string(sample.find("problem_id")->as_int()), Colour::kPlain, true},
           {text(sample, "name"), Colour::kBold},
           {std::to_string(sample.find("sample_id")->as_int()), Colour::kPlain, true},
           {outcome.empty() ? "not judged" : outcome, outcome.empty() ? Colour::kYellow
                                                      : correct       ? Colour::kGreen
                                                                      : Colour::kRed},
           {measured  ? short_number(speedup->as_double()) + "×"
            : correct ? "not measured"
                      : "",
            Colour::kPlain, true},
           {cut_end(correct ? "" : text(sample, "reason") + text(sample, "error"), kReasonMax)}});
    }
    terminal_.table({"problem", "name", "sample", "outcome", "speedup", "why"}, rows);
    terminal_.line();
  }

  Terminal& terminal_;
  const RunRequest& request_;
  std::vector<Problem> problems_;
  std::vector<Generation> generations_;  // fixed once read: waiting_ points into it
  std::optional<EvalResults> results_;
  std::vector<Waiting> waiting_;  // beside the submissions
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> faults_;
  std::size_t kept_ = 0;
  bool changed_ = false;                     // the results, by what needed no judge
  const std::uint64_t seed_ = random_u64();  // one for all, so that all are asked the same
};

}  // namespace

bool RunRequest::wants(std::int64_t problem) const {
  if (!problems.empty()) {
    return std::find(problems.begin(), problems.end(), problem) != problems.end();
  }
  return !subset || (subset->first <= problem && problem <= subset->second);
}

int judge_run(Terminal& terminal, LoadedConfig loaded, const RunRequest& request) {
  return RunJudge(terminal, request).run(std::move(loaded));
}

Result<std::string> kernelbench_dataset(const Config& config, const std::string& wanted) {
  std::vector<std::string> names, found;
  for (const DatasetConfig& dataset : config.datasets) {
    names.push_back(dataset.name);
    if (wanted.empty() ? dataset.plugin == "kernelbench" : dataset.name == wanted) {
      found.push_back(dataset.name);
    }
  }
  if (found.size() == 1) return found[0];
  if (!wanted.empty() && wanted != "kernelbench") {
    return not_found(unknown_name("dataset", wanted, names));
  }
  return not_found("found " + std::to_string(found.size()) +
                   " datasets of the plugin kernelbench, expected one; say where its data lies: "
                   "--set 'datasets=[{name: kernelbench, plugin: kernelbench, config: {path: "
                   "FOLDER}}]', or the same in a file for -c");
}

Result<std::vector<Problem>> problems_of(const Catalog& catalog, const std::string& dataset,
                                         std::int64_t level) {
  HONE_ASSIGN(const auto tasks, catalog.list(""));
  const std::string before = "level" + std::to_string(level) + "/";
  std::vector<Problem> problems;
  for (const TaskSummary* task : tasks) {
    const std::string& id = task->entry.id;
    if (task->dataset != dataset || !id.starts_with(before)) continue;
    const std::string number = id.substr(before.size());
    if (number.empty() || number.size() > 9 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      continue;
    problems.push_back({std::stoll(number), task->entry.title, task->full_id()});
  }
  if (problems.empty()) {
    return not_found("the dataset '" + dataset + "' has no problem of level " +
                     std::to_string(level) + "; levels found: " + levels_text(tasks, dataset));
  }
  std::sort(problems.begin(), problems.end(),
            [](const Problem& a, const Problem& b) { return a.number < b.number; });
  return problems;
}

Result<const Problem*> problem_of(const std::vector<Problem>& problems, std::int64_t level,
                                  const Generation& generation) {
  if (const Problem* found = find_problem(problems, generation.problem)) return found;
  return invalid_argument(generation.file.filename().string() + ": level " + std::to_string(level) +
                          " has no problem " + std::to_string(generation.problem));
}

}  // namespace hone
