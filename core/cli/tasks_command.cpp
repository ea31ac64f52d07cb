// `hone tasks`: lists tasks, shows one, or tests that they detect wrong submissions.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "app/evaluate_all.hpp"
#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "evaluate/make_evaluator.hpp"
#include "integrations/kernelbench/levels.hpp"
#include "offline/golden.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

// Processes of an admission: judge, builders, candidates, reference and baseline.
constexpr int kOwnSlots = 8;

class TasksCommand : public Command {
 public:
  std::string name() const override { return "tasks"; }
  std::string summary() const override {
    return "List tasks, show one, or test that they detect wrong submissions.";
  }
  std::vector<std::string> examples() const override {
    return {"hone tasks                     # list all tasks",
            "hone tasks softmax             # show signature, shapes and tolerances",
            "hone tasks --admit             # test all tasks (takes minutes)",
            "hone tasks --admit softmax     # test one task",
            "hone tasks --set 'datasets=[{name: mine, config: {path: my_tasks}}]'"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "ID", .doc = "task to show or test", .value = "TASK"}, id_);
    options.text({.name = "--split", .doc = "only tasks of this split"}, split_);
    options.text({.name = "--dataset", .doc = "only tasks of this dataset", .value = "NAME"},
                 dataset_);
    options.integer({.name = "--level", .doc = "only tasks with the tag levelN", .value = "N"},
                    level_, 1, 99);
    options.flag({.name = "--admit",
                  .doc = "test each task: wrong outputs (zeros, stale, rounded to bfloat16) must "
                         "fail, and each file in golden/ must get the outcome in its first line"},
                 admit_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
    options.flag({.name = "--ids", .doc = "print bare ids, for completion", .hidden = true}, ids_);
  }

  int run(Terminal& terminal) override {
    if (!id_.empty() && level_ != 0)
      return terminal.fail(
          invalid_argument("--level cannot be combined with a task; remove one of them"));
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    std::unique_ptr<Launcher> launcher;
    if (admit_) {
      if (const Status fits = fit_slots(*loaded); !fits) return terminal.fail(fits.error());
      LauncherOptions options = launcher_options(loaded->config);
      options.slots += kOwnSlots;
      auto started = Launcher::start(options);
      if (!started) return terminal.fail(started.error(), "check this machine: hone doctor");
      launcher = std::move(started).value();
    }
    const auto registry = open_registry(loaded->config);
    if (const Status known = check_dataset(loaded->config, *registry); !known) {
      return terminal.fail(known.error());
    }
    auto catalog = open_catalog(*loaded, *registry);
    if (!catalog) return terminal.fail(catalog.error());
    if (admit_) return admit_tasks(terminal, loaded->config, *launcher, *registry, **catalog);
    return id_.empty() ? list(terminal, **catalog)
                       : show(terminal, **catalog, loaded->config.backend);
  }

 private:
  /// A dataset that is not configured may be a plugin that needs a path.
  Status check_dataset(const Config& config, const Registry& registry) const {
    if (dataset_.empty()) return {};
    std::vector<std::string> names;
    for (const DatasetConfig& dataset : config.datasets) {
      if (dataset.name == dataset_) return {};
      names.push_back(dataset.name);
    }
    std::string message = unknown_name("dataset", dataset_, names);
    for (const PluginInfo& info : registry.plugins()) {
      if (info.kind != PluginKind::kDataset || info.name != dataset_) continue;
      message = "the dataset '" + dataset_ +
                "' is not configured; add it with the path of its data: --set " +
                "'datasets=[{name: " + dataset_ + ", plugin: " + dataset_ +
                ", config: {path: FOLDER}}]', or the same in a file for -c";
    }
    return not_found(message);
  }

  /// The tasks that pass the filters.
  Result<std::vector<const TaskSummary*>> filtered(const Catalog& catalog) const {
    HONE_ASSIGN(auto tasks, catalog.list(split_));
    const std::string tag = level_ == 0 ? "" : "level" + std::to_string(level_);
    const std::string levels = levels_text(tasks, dataset_);
    std::erase_if(tasks, [&](const TaskSummary* task) {
      const std::vector<std::string>& tags = task->entry.tags;
      const bool of_level = tag.empty() || std::find(tags.begin(), tags.end(), tag) != tags.end();
      return !of_level || (!dataset_.empty() && task->dataset != dataset_);
    });
    if (tasks.empty() && level_ != 0)
      return not_found("found no task that is tagged " + tag + "; levels found: " + levels);
    return tasks;
  }

  int list(Terminal& terminal, const Catalog& catalog) const {
    const auto tasks = filtered(catalog);
    if (!tasks) return terminal.fail(tasks.error());
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const TaskSummary* task : *tasks) {
      const TaskEntry& entry = task->entry;
      if (ids_) {
        terminal.line(entry.id);
        if (task->dataset != DatasetConfig().name) terminal.line(task->full_id());
      }
      rows.push_back({{task->full_id(), Colour::kBold},
                      {entry.title},
                      {entry.split},
                      {joined(entry.backends)},
                      {joined(entry.tags), Colour::kDim}});
      listed.push(
          Value::map({{"id", task->full_id()},
                      {"title", entry.title},
                      {"split", entry.split},
                      {"tags", Value::Array(entry.tags.begin(), entry.tags.end())},
                      {"backends", Value::Array(entry.backends.begin(), entry.backends.end())}}));
    }
    if (ids_) return kExitOk;
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"id", "title", "split", "backends", "tags"}, rows);
    }
    return kExitOk;
  }

  int show(Terminal& terminal, const Catalog& catalog, const std::string& backend) const {
    terminal.status(reading_text("task " + id_));
    const auto task = catalog.find(id_);
    if (!task) return terminal.fail(without_verbs(task.error()), "list all tasks: hone tasks");
    const Value value = task_for_client(**task, backend);
    if (json_) {
      terminal.json(value, 2);
      return kExitOk;
    }
    terminal.line(terminal.paint(Colour::kBold, (*task)->dataset + "/" + (*task)->id) + "  " +
                  (*task)->title);
    terminal.line();
    terminal.line((*task)->description);
    terminal.line(terminal.paint(Colour::kBlue, value.find("signature")->as_string()));
    terminal.line();
    for (const auto& [key, member] : value.as_map()) {
      if (key == "description" || key == "title" || key == "signature") continue;
      terminal.line(terminal.paint(Colour::kBold, key) + ": " +
                    (member.is_string() ? member.as_string() : to_json(member)));
    }
    return kExitOk;
  }

  /// The task for this backend, or the reason why it has none.
  struct Chosen {
    std::string id;
    Result<std::shared_ptr<const Task>> task;
  };

  /// All tasks that the backend can run.
  Result<std::vector<Chosen>> chosen(const Catalog& catalog, const std::string& backend) const {
    std::vector<Chosen> tasks;
    if (!id_.empty()) {
      HONE_ASSIGN(auto task, catalog.find_for(backend, id_));
      tasks.push_back({task->id, std::move(task)});
      return tasks;
    }
    HONE_ASSIGN(const auto summaries, filtered(catalog));
    for (const TaskSummary* summary : summaries) {
      const std::vector<std::string>& has = summary->entry.backends;
      if (std::find(has.begin(), has.end(), backend) == has.end()) continue;
      tasks.push_back({summary->entry.id, catalog.find_for(backend, summary->full_id())});
    }
    return tasks;
  }

  int admit_tasks(Terminal& terminal, const Config& config, Launcher& launcher,
                  const Registry& registry, const Catalog& catalog) const {
    const auto options = evaluator_options(config, registry);
    if (!options) return terminal.fail(options.error(), next_step(options.error()));
    terminal.status(reading_text(id_.empty() ? "every task" : "task " + id_));
    const auto tasks = chosen(catalog, config.backend);
    if (!tasks) return terminal.fail(without_verbs(tasks.error()), "list all tasks: hone tasks");
    const auto evaluator = make_evaluator(launcher, *options, "admission");
    if (!evaluator) return terminal.fail(evaluator.error(), next_step(evaluator.error()));
    TaskAdmission admission(launcher, *options);
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
      if (report)
        row.set("golden", judge_goldens(terminal, **evaluator, config, *task, at, reasons));
      row.set("reasons", reasons).set("admitted", reasons.as_array().empty());
      row.set("task", id);
      rows.push_back(row_of(row));
      for (const Value& reason : reasons.as_array()) {
        refusals.push_back(id + ": " + reason.as_string());
      }
      if (json_) terminal.json(row);
      last = std::move(row);
    }
    if (!json_) {
      terminal.table(
          {"task", "", "trials", "error / tolerance", "accepted wrong outputs", "golden"}, rows);
      if (rows.size() == 1) show_tolerances(terminal, last);
      if (!refusals.empty()) terminal.line();
      for (const std::string& refusal : refusals) terminal.line(refusal);
    }
    return refusals.empty() ? kExitOk : kExitNo;
  }

  /// For a task with tolerances from its reference: the limits, and the errors that they follow from.
  static void show_tolerances(Terminal& terminal, const Value& report) {
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

  static Value refused(const std::string& reason) {
    return Value::map({{"trials", 0},
                       {"lazy", Value::array()},
                       {"reference_error", 0.0},
                       {"admitted", false},
                       {"reasons", Value::array({reason})},
                       {"golden", Value::array()}});
  }

  /// The folder of a dataset, if it has one.
  static std::filesystem::path folder_of(const Config& config, const Task& task) {
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
  static Value judge_goldens(Terminal& terminal, Evaluator& evaluator, const Config& config,
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
      const std::string differs = results[i] ? difference(golden, *results[i])
                                             : "not judged: " + results[i].error().message;
      const std::string who = golden.file.empty() ? "the baseline" : "golden/" + golden.file;
      if (!differs.empty()) reasons.push(who + ": " + differs);
      if (golden.file.empty()) continue;
      listed.push(Value::map({{"file", golden.file}, {"as_expected", differs.empty()}}));
    }
    return listed;
  }

  static Row row_of(const Value& report) {
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
                             : std::to_string(as_expected) + " of " +
                                   std::to_string(goldens.size()) + " as expected"}};
  }

  static std::string passing(const Value& report) {
    std::vector<std::string> names;
    for (const Value& lazy : report.find("lazy")->as_array()) {
      if (lazy.find("passes")->as_bool()) names.push_back(lazy.find("answer")->as_string());
    }
    return names.empty() ? "none" : joined(names);
  }

  ConfigOptions config_;
  std::string id_, split_, dataset_;
  std::int64_t level_ = 0;
  bool admit_ = false, json_ = false, ids_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tasks_command() { return std::make_unique<TasksCommand>(); }

}  // namespace hone
