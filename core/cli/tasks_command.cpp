// `hone tasks`: lists tasks, shows one, or tests that they detect wrong submissions.
#include "app/host.hpp"
#include "app/parts.hpp"
#include "cli/command.hpp"
#include "offline/admit_tasks.hpp"
#include "offline/task_filter.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

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
    options.text({.name = "ID", .doc = "task to show or test", .value = "TASK"}, filter_.id);
    options.text({.name = "--split", .doc = "only tasks of this split"}, filter_.split);
    options.text({.name = "--dataset", .doc = "only tasks of this dataset", .value = "NAME"},
                 filter_.dataset);
    options.integer({.name = "--level", .doc = "only tasks with the tag levelN", .value = "N"},
                    filter_.level, 1, 99);
    options.flag({.name = "--admit",
                  .doc = "test each task: wrong outputs (zeros, stale, rounded to bfloat16) must "
                         "fail, and each file in golden/ must get the outcome in its first line"},
                 admit_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
    options.flag({.name = "--ids", .doc = "print bare ids, for completion", .hidden = true}, ids_);
  }

  int run(Terminal& terminal) override {
    if (!filter_.id.empty() && filter_.level != 0)
      return terminal.fail(
          invalid_argument("--level cannot be combined with a task; remove one of them"));
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (admit_) return admit_tasks(terminal, std::move(*loaded), filter_, json_);
    const auto registry = open_registry(loaded->config);
    if (const Status known = check_dataset(filter_.dataset, loaded->config, *registry); !known)
      return terminal.fail(known.error());
    const auto catalog = open_catalog(*loaded, *registry);
    if (!catalog) return terminal.fail(catalog.error());
    return filter_.id.empty() ? list(terminal, **catalog)
                              : show(terminal, **catalog, loaded->config.backend);
  }

 private:
  int list(Terminal& terminal, const Catalog& catalog) const {
    const auto tasks = filtered(catalog, filter_);
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
    terminal.status(reading_text("task " + filter_.id));
    const auto task = catalog.find(filter_.id);
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

  ConfigOptions config_;
  TaskFilter filter_;
  bool admit_ = false, json_ = false, ids_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tasks_command() { return std::make_unique<TasksCommand>(); }

}  // namespace hone
