// `hone tasks`: what there is to solve, one task in full, and whether tasks are fit to be served.
#include "base/crypto.hpp"
#include "cli/command.hpp"
#include "cli/host.hpp"
#include "evaluate/make_evaluator.hpp"

namespace hone {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

class TasksCommand : public Command {
 public:
  std::string name() const override { return "tasks"; }
  std::string summary() const override {
    return "List tasks, show one, or test whether they are fit to be served.";
  }
  std::vector<std::string> examples() const override {
    return {"hone tasks                     # all of them",
            "hone tasks softmax             # signature, shapes, tolerance: what a model is told",
            "hone tasks --admit             # do lazy answers fail every task? (minutes)",
            "hone tasks --admit softmax     # one task",
            "hone tasks --set 'datasets=[{name: mine, config: {path: my_tasks}}]'"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "ID", .doc = "show this task", .value = "TASK"}, id_);
    options.text({.name = "--split", .doc = "only tasks of this split"}, split_);
    options.flag(
        {.name = "--admit", .doc = "run lazy answers (zeros, mean, yesterday's…): none may pass"},
        admit_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
    options.flag({.name = "--ids", .doc = "print bare ids, for completion", .hidden = true}, ids_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return terminal.fail(loaded.error(), "check it with: hone config FILE");
    std::unique_ptr<Launcher> launcher;
    if (admit_) {
      auto started = Launcher::start(launcher_options(loaded->config));
      if (!started) return terminal.fail(started.error(), "what this machine allows: hone doctor");
      launcher = std::move(started).value();
    }
    const auto registry = open_registry(loaded->config);
    auto catalog = open_catalog(loaded->config, *registry);
    if (!catalog) return terminal.fail(catalog.error());
    if (admit_) return admit_tasks(terminal, loaded->config, *launcher, *registry, **catalog);
    return id_.empty() ? list(terminal, **catalog)
                       : show(terminal, **catalog, loaded->config.backend);
  }

 private:
  int list(Terminal& terminal, const Catalog& catalog) const {
    const auto tasks = catalog.list(split_);
    if (!tasks) return terminal.fail(tasks.error());
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const TaskSummary* task : *tasks) {
      const TaskEntry& entry = task->entry;
      if (ids_) terminal.line(entry.id);
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
    const auto task = catalog.find(id_);
    if (!task) return terminal.fail(task.error(), "all tasks: hone tasks");
    const Value value = task_for_client(**task, backend);
    if (json_) {
      terminal.json(value, 2);
      return kExitOk;
    }
    terminal.line(terminal.paint(Colour::kBold, (*task)->dataset + "/" + (*task)->id) + "  " +
                  (*task)->title);
    terminal.line();
    terminal.line((*task)->description);
    terminal.line(terminal.paint(Colour::kBlue, c_signature(**task)));
    terminal.line();
    for (const auto& [key, member] : value.as_map()) {
      if (key == "description" || key == "title" || key == "signature") continue;
      terminal.line(terminal.paint(Colour::kBold, key) + ": " +
                    (member.is_string() ? member.as_string() : to_json(member)));
    }
    return kExitOk;
  }

  Result<std::vector<std::shared_ptr<const Task>>> chosen(const Catalog& catalog) const {
    std::vector<std::shared_ptr<const Task>> tasks;
    if (!id_.empty()) {
      HONE_ASSIGN(auto task, catalog.find(id_));
      tasks.push_back(std::move(task));
      return tasks;
    }
    HONE_ASSIGN(const auto summaries, catalog.list(split_));
    for (const TaskSummary* summary : summaries) {
      HONE_ASSIGN(auto task, catalog.find(summary->full_id()));
      tasks.push_back(std::move(task));
    }
    return tasks;
  }

  int admit_tasks(Terminal& terminal, const Config& config, Launcher& launcher,
                  const Registry& registry, const Catalog& catalog) const {
    const auto options = evaluator_options(config, registry);
    if (!options) return terminal.fail(options.error(), "what this machine allows: hone doctor");
    const auto tasks = chosen(catalog);
    if (!tasks) return terminal.fail(tasks.error(), "all tasks: hone tasks");
    std::vector<Row> rows;
    Value listed = Value::array();
    bool all = true;
    for (const auto& task : *tasks) {
      terminal.status("admitting " + task->id + " (" + std::to_string(rows.size() + 1) + " of " +
                      std::to_string(tasks->size()) + ")…");
      const auto report = admit(launcher, *options, task, random_u64());
      if (!report) return terminal.fail(report.error().in(task->id));
      const bool admitted = report->find("admitted")->as_bool();
      all = all && admitted;
      rows.push_back(
          {{task->id, Colour::kBold},
           {admitted ? "admitted" : "refused", admitted ? Colour::kGreen : Colour::kRed},
           {std::to_string(report->find("trials")->as_int()), Colour::kPlain, true},
           {short_number(report->find("reference_error")->as_double()), Colour::kPlain, true},
           {passing(*report)}});
      Value row = *report;
      row.set("task", task->id);
      listed.push(std::move(row));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"task", "", "trials", "error / tolerance", "lazy answers that pass"}, rows);
    }
    return all ? kExitOk : kExitNo;
  }

  static std::string passing(const Value& report) {
    std::vector<std::string> names;
    for (const Value& lazy : report.find("lazy")->as_array()) {
      if (lazy.find("passes")->as_bool()) names.push_back(lazy.find("answer")->as_string());
    }
    return names.empty() ? "none" : joined(names);
  }

  ConfigOptions config_;
  std::string id_, split_;
  bool admit_ = false, json_ = false, ids_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tasks_command() { return std::make_unique<TasksCommand>(); }

}  // namespace hone
