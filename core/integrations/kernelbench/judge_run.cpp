// Writes each result to disk before it waits for the next one, so that an interrupted run can be continued.
#include "integrations/kernelbench/judge_run.hpp"

#include <algorithm>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/one_turn.hpp"
#include "app/parts.hpp"
#include "app/stop_signals.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "integrations/kernelbench/levels.hpp"
#include "integrations/kernelbench/run_lock.hpp"
#include "integrations/kernelbench/run_report.hpp"

namespace hone {
namespace {

/// nullptr: the level has no such problem.
const Problem* find_problem(const std::vector<Problem>& problems, std::int64_t number) {
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [number](const Problem& one) { return one.number == number; });
  return found == problems.end() ? nullptr : &*found;
}

/// A generation whose verdict is awaited.
struct Waiting {
  const Generation* generation;
  std::string source_hash;
};

using Key = std::pair<std::int64_t, std::int64_t>;  // problem and sample

Key key_of(const Generation& one) { return {one.problem, one.sample}; }

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
  /// Loads the generations, the results and the level's problems.
  Status open(const Catalog& catalog, const std::string& dataset) {
    HONE_ASSIGN(run_.problems, problems_of(catalog, dataset, request_.analysis.level));
    HONE_ASSIGN(run_.results, EvalResults::read(request_.folder / "eval_results.json"));
    return {};
  }

  Status read(const LoadedConfig& loaded) {
    HONE_ASSIGN(const std::string dataset, kernelbench_dataset(loaded.config, request_.dataset));
    const auto registry = open_registry(loaded.config);
    HONE_ASSIGN(const auto catalog, open_catalog(loaded, *registry));
    HONE_TRY(open(*catalog, dataset));
    if (run_.results->all().empty() && run_.results->refused().empty()) {
      return not_found((request_.folder / "eval_results.json").string() +
                       ": no results; run `hone kernelbench eval` first");
    }
    return {};
  }

  Status judge(LoadedConfig loaded) {
    loaded.config.journal.path.clear();  // the journal is for episodes of servers
    HONE_ASSIGN(const std::string dataset, kernelbench_dataset(loaded.config, request_.dataset));
    HONE_ASSIGN(Generations found, list_generations(request_.folder, request_.analysis.level));
    generations_ = std::move(found.of_level);
    run_.other_levels = std::move(found.of_others);
    std::erase_if(generations_, [this](const Generation& one) {
      return !request_.wants(one.problem) ||
             (request_.samples > 0 && one.sample >= request_.samples);
    });
    HONE_ASSIGN(const RunLock lock, RunLock::take(request_.folder));
    HONE_ASSIGN(const auto environment, open_kernel_refine(loaded.config));
    const std::string backend = loaded.config.backend;
    HONE_TRY(say_when_stopped("hone: stopped; the same command continues with the results in " +
                              request_.folder.string()));
    HONE_ASSIGN(const auto host, Host::start(std::move(loaded), show_steps(terminal_)));
    HONE_TRY(open(host->catalog(), dataset));
    progress_.emplace(terminal_, "", generations_.size());
    Status written;
    evaluate_each(
        *progress_, host->evaluator(), [&] { return next(host->catalog(), backend, *environment); },
        [&](std::size_t i, const Result<Verdict>& result) {
          take(*waiting_[i].generation, waiting_[i].source_hash, result);
          if (const Status kept = run_.results->write(); !kept) written = kept;
          stream(key_of(*waiting_[i].generation));
        });
    progress_.reset();
    if (written && changed_) written = run_.results->write();
    return written;
  }

  /// A verdict is a result. A fault is not, so the next run judges the generation again.
  void take(const Generation& generation, const std::string& source_hash,
            const Result<Verdict>& result) {
    if (result) {
      run_.results->put(generation, source_hash, *result);
      changed_ = true;
    } else {
      run_.not_judged.try_emplace(key_of(generation), printable(result.error().message));
    }
  }

  /// The submission of a generation; none if it needs no evaluation. An error concerns this generation's file
  /// only.
  Result<std::optional<Submission>> prepare(const Generation& generation, const Catalog& catalog,
                                            const std::string& backend,
                                            const Environment& environment) {
    if (const Generation* other = twin_of(generation)) {
      return invalid_argument("found two files of this sample, " +
                              generation.file.filename().string() + " and " +
                              other->file.filename().string() + "; expected one");
    }
    HONE_ASSIGN(const Problem* const problem,
                problem_of(run_.problems, request_.analysis.level, generation));
    HONE_ASSIGN(const std::string source, read_generation(generation));
    const std::string hash = sha256_hex(source);
    if (!request_.again && run_.results->has(generation, hash)) {
      ++run_.kept;
      progress_->leave_out();
      stream(key_of(generation));
      return std::optional<Submission>();
    }
    progress_->show("reading " + problem->task_id);
    HONE_ASSIGN(const auto task, catalog.find_for(backend, problem->task_id));
    HONE_ASSIGN(auto prepared,
                prepare_turn(environment, task, backend, Value::map({{"code", source}})));
    if (const Verdict* verdict = std::get_if<Verdict>(&prepared)) {
      progress_->count(*verdict);
      take(generation, hash, *verdict);
      stream(key_of(generation));
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

  /// The next generation to judge; none at the end.
  std::optional<Submission> next(const Catalog& catalog, const std::string& backend,
                                 const Environment& environment) {
    while (next_ < generations_.size()) {
      const Generation& generation = generations_[next_++];
      auto prepared = prepare(generation, catalog, backend, environment);
      if (prepared && *prepared) return std::move(*prepared);
      if (prepared) continue;
      progress_->count(prepared.error());
      take(generation, "", prepared.error());
      stream(key_of(generation));
    }
    return {};
  }

  /// Another file for the same sample, such as problem_019 and problem_19. The files are sorted, so it is a
  /// neighbour.
  const Generation* twin_of(const Generation& one) const {
    const auto same = [&one](const Generation& other) {
      return other.problem == one.problem && other.sample == one.sample;
    };
    if (&one != &generations_.front() && same(*(&one - 1))) return &one - 1;
    if (&one != &generations_.back() && same(*(&one + 1))) return &one + 1;
    return nullptr;
  }

  /// An invalid entry whose sample was not judged since counts as not judged.
  void take_refused() {
    for (const RefusedEntry& one : run_.results->refused()) {
      if (one.judged || !one.sample) continue;
      run_.not_judged.try_emplace({one.problem, *one.sample}, one.why);
    }
  }

  /// Prints the lines that are still missing: of samples whose existing results this run kept.
  void stream_rest() {
    if (!request_.json) return;
    const Value listed = report_.samples();
    for (const Value& sample : listed.as_array()) {
      stream({sample.find("problem_id")->as_int(), sample.find("sample_id")->as_int()});
    }
  }

  void stream(const Key& key) {
    if (!request_.json || !streamed_.insert(key).second) return;
    terminal_.json(report_.sample(key.first, key.second).set("type", "result"));
  }

  int report() {
    take_refused();
    stream_rest();
    return report_.finish();
  }

  Terminal& terminal_;
  const RunRequest& request_;
  JudgedRun run_;
  const RunReport report_{terminal_, request_, run_};
  std::vector<Generation> generations_;  // constant after reading: waiting_ points into it
  std::size_t next_ = 0;                 // index of the next one in generations_
  std::vector<Waiting> waiting_;         // parallel to the submissions
  std::optional<Progress> progress_;     // set while it judges
  std::set<Key> streamed_;               // samples that --json has printed
  bool changed_ = false;                 // results were added without an evaluation
  const std::uint64_t seed_ =
      random_u64();  // one seed, so that all submissions get the same inputs
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
  return not_found(
      "found " + std::to_string(found.size()) +
      " datasets of the plugin kernelbench, expected one; add it with the path of its data: "
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
    if (task->dataset != dataset) continue;
    if (!id.starts_with(before)) continue;
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
