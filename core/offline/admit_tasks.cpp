// Judges lazy outputs, then golden submissions.
#include "offline/admit_tasks.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "evaluate/make_evaluator.hpp"
#include "offline/golden.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

// Processes of an admission: judge, builders, candidates, reference and baseline.
constexpr int kOwnSlots = 8;

/// The task for this backend, or the reason why it has none.
struct Chosen {
  std::string id;
  Result<std::shared_ptr<const Task>> task;
};

/// All tasks that the backend can run.
Result<std::vector<Chosen>> chosen(const Catalog& catalog, const std::string& backend,
                                   const TaskFilter& filter) {
  std::vector<Chosen> tasks;
  if (!filter.id.empty()) {
    HONE_ASSIGN(auto task, catalog.find_for(backend, filter.id));
    tasks.push_back({task->id, std::move(task)});
    return tasks;
  }
  HONE_ASSIGN(const auto summaries, filtered(catalog, filter));
  for (const TaskSummary* summary : summaries) {
    const std::vector<std::string>& has = summary->entry.backends;
    if (std::find(has.begin(), has.end(), backend) == has.end()) continue;
    tasks.push_back({summary->entry.id, catalog.find_for(backend, summary->full_id())});
  }
  return tasks;
}

/// For a task with tolerances from its reference: the limits, and the errors that they follow from.
void show_tolerances(Terminal& terminal, const Value& report) {
  const Value* tolerances = report.find("tolerances");
  if (tolerances == nullptr) return;
  std::vector<Row> rows;
  const auto number = [](const Value& of, const char* key) {
    const Value* found = of.find(key);
    if (found == nullptr) return std::string("-");
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", found->as_double());
    return std::string(text);
  };
  for (const Value& one : tolerances->as_array()) {
    rows.push_back({{one.find("tensor")->as_string(), Colour::kBold}});
    for (const char* key :
         {"element", "norm", "own_element", "own_norm", "allowed_element", "allowed_norm"})
      rows.back().push_back({number(one, key), Colour::kPlain, true});
  }
  terminal.line();
  terminal.table({"output", "element", "norm", "reference's element", "reference's norm",
                  "allowed precision's element", "allowed precision's norm"},
                 rows);
}

Value refused(const std::string& reason) {
  return Value::map({{"trials", 0},
                     {"lazy", Value::array()},
                     {"reference_error", 0.0},
                     {"admitted", false},
                     {"reasons", Value::array({reason})},
                     {"golden", Value::array()}});
}

/// The folder of a dataset, if it has one.
std::filesystem::path folder_of(const Config& config, const Task& task) {
  for (const DatasetConfig& dataset : config.datasets) {
    const Value* path = dataset.config.find("path");
    if (dataset.name != task.dataset || path == nullptr || !path->is_string()) continue;
    const bool builtin = path->as_string() == "builtin";
    return (builtin ? install_root() / "share/tasks" : std::filesystem::path(path->as_string())) /
           task.id;
  }
  return {};
}

/// Tests the baseline, which must be correct, and golden/. Adds unexpected outcomes to `reasons`.
Value judge_goldens(Terminal& terminal, Evaluator& evaluator, const Config& config,
                    const std::shared_ptr<const Task>& task, const std::string& at,
                    Value& reasons) {
  const std::filesystem::path folder = folder_of(config, *task);
  const BackendSources& sources = task->backends.at(config.backend);
  auto goldens =
      folder.empty() ? std::vector<Golden>() : read_goldens(folder / "golden", sources.languages);
  if (!goldens) {
    reasons.push("golden/" + goldens.error().message);
    return Value::array();
  }
  const Source& baseline = sources.baseline;
  const std::string language = language_of_file(baseline.name, sources.languages);
  if (!language.empty()) {
    goldens->push_back({"", baseline.text, language, Outcome::kCorrect, '\0'});
  }
  std::vector<Submission> submissions;
  const std::uint64_t seed = random_u64();
  for (const Golden& golden : *goldens) {
    submissions.push_back({.task = task,
                           .backend = config.backend,
                           .language = golden.language,
                           .source = golden.source,
                           .client = "admission",
                           .episode = golden.file,
                           .group = "admission",
                           .seed = seed});
  }
  Progress progress(terminal, at + "golden, ", submissions.size());
  const auto results = evaluate_all(progress, evaluator, submissions);
  Value listed = Value::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Golden& golden = (*goldens)[i];
    const std::string differs =
        results[i] ? difference(golden, *results[i]) : "not judged: " + results[i].error().message;
    const std::string who = golden.file.empty() ? "the baseline" : "golden/" + golden.file;
    if (!differs.empty()) reasons.push(who + ": " + differs);
    if (golden.file.empty()) continue;
    listed.push(Value::map({{"file", golden.file}, {"as_expected", differs.empty()}}));
  }
  return listed;
}

std::string passing(const Value& report) {
  std::vector<std::string> names;
  for (const Value& lazy : report.find("lazy")->as_array()) {
    if (lazy.find("passes")->as_bool()) names.push_back(lazy.find("answer")->as_string());
  }
  return names.empty() ? "none" : joined(names);
}

Row admission_row(const Value& report) {
  const bool admitted = report.find("admitted")->as_bool();
  std::size_t as_expected = 0;
  const Value::Array& goldens = report.find("golden")->as_array();
  for (const Value& golden : goldens) as_expected += golden.find("as_expected")->as_bool();
  return {{report.find("task")->as_string(), Colour::kBold},
          {admitted ? "admitted" : "refused", admitted ? Colour::kGreen : Colour::kRed},
          {std::to_string(report.find("trials")->as_int()), Colour::kPlain, true},
          {short_number(report.find("reference_error")->as_double()), Colour::kPlain, true},
          {passing(report)},
          {goldens.empty() ? "none"
                           : std::to_string(as_expected) + " of " + std::to_string(goldens.size()) +
                                 " as expected"}};
}

}  // namespace

int admit_tasks(Terminal& terminal, LoadedConfig loaded, const TaskFilter& filter, bool json) {
  if (const Status fits = fit_slots(loaded); !fits) return terminal.fail(fits.error());
  const Config& config = loaded.config;
  LauncherOptions own = launcher_options(config);
  own.slots += kOwnSlots;
  const auto launcher = Launcher::start(own);
  if (!launcher) return terminal.fail(launcher.error(), "check this machine: hone doctor");
  const auto registry = open_registry(config);
  if (const Status known = check_dataset(filter.dataset, config, *registry); !known)
    return terminal.fail(known.error());
  const auto catalog = open_catalog(loaded, *registry);
  if (!catalog) return terminal.fail(catalog.error());
  const auto options = evaluator_options(config, *registry);
  if (!options) return terminal.fail(options.error(), next_step(options.error()));
  terminal.status(reading_text(filter.id.empty() ? "every task" : "task " + filter.id));
  const auto tasks = chosen(**catalog, config.backend, filter);
  if (!tasks) return terminal.fail(without_verbs(tasks.error()), "list all tasks: hone tasks");
  const auto evaluator = make_evaluator(**launcher, *options, "admission");
  if (!evaluator) return terminal.fail(evaluator.error(), next_step(evaluator.error()));
  TaskAdmission admission(**launcher, *options);
  std::vector<Row> rows;
  std::vector<std::string> refusals;
  Value last;
  for (const auto& [id, task] : *tasks) {
    const std::string at = "admitting " + id + " (" + std::to_string(rows.size() + 1) + " of " +
                           std::to_string(tasks->size()) + "): ";
    terminal.status(at + "lazy answers…");
    auto report =
        task ? admission.admit(*task, random_u64()) : Result<Value>(without_verbs(task.error()));
    Value row = report ? std::move(*report) : refused(report.error().message);
    Value reasons = *row.find("reasons");
    // Without a working reference and baseline, no submission can be judged.
    if (report) row.set("golden", judge_goldens(terminal, **evaluator, config, *task, at, reasons));
    row.set("reasons", reasons).set("admitted", reasons.as_array().empty());
    row.set("task", id);
    rows.push_back(admission_row(row));
    for (const Value& reason : reasons.as_array()) {
      refusals.push_back(id + ": " + reason.as_string());
    }
    if (json) terminal.json(row);
    last = std::move(row);
  }
  if (!json) {
    terminal.table({"task", "", "trials", "error / tolerance", "accepted wrong outputs", "golden"},
                   rows);
    if (rows.size() == 1) show_tolerances(terminal, last);
    if (!refusals.empty()) terminal.line();
    for (const std::string& refusal : refusals) terminal.line(refusal);
  }
  return refusals.empty() ? kExitOk : kExitNo;
}

}  // namespace hone
