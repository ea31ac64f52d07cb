// Checks of datasets: description, refused configurations, and every task.
#include <algorithm>

#include "conformance/checks.hpp"
#include "plugin/call.hpp"
#include "plugin/dataset.hpp"

namespace hone {
namespace {

struct Loaded {
  PluginLibrary library;
  const hone_dataset_factory* table;
  std::shared_ptr<HostServices> host;
  Value description;

  Status open(std::string_view config) const {
    hone_dataset* handle = nullptr;
    HONE_TRY(call_plugin("open", [&](hone_error* error) {
      return table->open(host->table(), borrow(config), &handle, error);
    }));
    table->close(handle);
    return {};
  }
};

Result<Loaded> load(const CheckSubject& subject) {
  HONE_ASSIGN(PluginLibrary library, PluginLibrary::load(subject.path));
  HONE_ASSIGN(const hone_dataset_factory* table, dataset_factory(library));
  HONE_ASSIGN(Value described,
              check_description(Dataset::describe(library), Dataset::describe(library)));
  auto host = std::make_shared<HostServices>(library.name(), subject.host);
  return Loaded{std::move(library), table, std::move(host), std::move(described)};
}

Result<std::unique_ptr<Dataset>> open_dataset(const Loaded& loaded, const CheckSubject& subject) {
  return Dataset::open(loaded.library, "validated", subject.config, loaded.host);
}

Result<CheckResult> describe(const CheckSubject& subject) {
  HONE_TRY(load(subject));
  return passed();
}

Result<CheckResult> unknown_key(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  const std::string key = misspelt_parameter(loaded.description);
  Value config = subject.config;
  config.set(key, 1);
  const Status opened = loaded.open(to_msgpack(config));
  if (opened.ok()) return internal_error("a key '" + key + "': expected an error, found success");
  if (opened.error().code != Code::kInvalidArgument) {
    return internal_error("a key '" + key + "': expected invalid_argument, found " +
                          std::string(code_name(opened.error().code)));
  }
  return passed();
}

Result<CheckResult> garbage_config(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  for (const std::string& garbage : garbage_configs()) {
    if (loaded.open(garbage).ok()) {
      return internal_error("open: expected an error for garbage: " +
                            std::to_string(garbage.size()) + " bytes were accepted");
    }
  }
  return passed();
}

std::string reason_to_skip(const Loaded& loaded, const CheckSubject& subject) {
  const std::string names = missing_parameters(loaded.description, subject.config);
  return names.empty() ? "" : "needs a configuration with: " + names;
}

Result<CheckResult> list(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  if (std::string why = reason_to_skip(loaded, subject); !why.empty())
    return skipped(std::move(why));
  HONE_ASSIGN(const auto first, open_dataset(loaded, subject));
  HONE_ASSIGN(const auto second, open_dataset(loaded, subject));
  return check_list(*first, *second);
}

Result<CheckResult> get(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  if (std::string why = reason_to_skip(loaded, subject); !why.empty())
    return skipped(std::move(why));
  HONE_ASSIGN(const auto dataset, open_dataset(loaded, subject));
  return check_get(*dataset);
}

Result<CheckResult> unknown_id(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  if (std::string why = reason_to_skip(loaded, subject); !why.empty())
    return skipped(std::move(why));
  HONE_ASSIGN(const auto dataset, open_dataset(loaded, subject));
  return check_unknown_id(*dataset);
}

Result<CheckResult> close_null(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  loaded.table->close(nullptr);
  return passed();
}

}  // namespace

Result<CheckResult> check_list(const Dataset& first, const Dataset& second) {
  HONE_ASSIGN(const auto entries, first.list());
  for (const Dataset* dataset : {&first, &second}) {
    HONE_ASSIGN(const auto again, dataset->list());
    for (std::size_t i = 0; i < std::max(entries.size(), again.size()); ++i) {
      const std::string expected = i < entries.size() ? entries[i].id : "no more";
      const std::string found = i < again.size() ? again[i].id : "no more";
      if (expected != found) {
        return internal_error("list: item " + std::to_string(i) + ": expected " + expected +
                              " as before, found " + found);
      }
    }
  }
  if (!entries.empty()) return passed(std::to_string(entries.size()) + " tasks");
  return CheckResult{CheckOutcome::kWarning, "the dataset has no task"};
}

Result<CheckResult> check_get(const Dataset& dataset) {
  HONE_ASSIGN(const auto entries, dataset.list());
  for (const TaskEntry& entry : entries) {
    HONE_ASSIGN(const Task task, dataset.get(entry.id));
    HONE_ASSIGN(const Task again, dataset.get(entry.id));
    if (!(task_to_value(task) == task_to_value(again))) {
      return internal_error("get: " + entry.id + ": expected the same task twice");
    }
    if (task.split != entry.split) {
      return internal_error("get: " + entry.id + ": expected split '" + entry.split +
                            "' as listed, found '" + task.split + "'");
    }
  }
  return passed(std::to_string(entries.size()) + " tasks");
}

Result<CheckResult> check_unknown_id(const Dataset& dataset) {
  for (const std::string& id :
       {std::string("no such task"), std::string(), std::string(100, '/')}) {
    const auto found = dataset.get(id);
    if (found) return internal_error("get: expected no task '" + id + "', found one");
    if (found.error().code != Code::kNotFound) {
      return internal_error("get: '" + id + "': expected not_found, found " +
                            std::string(code_name(found.error().code)));
    }
  }
  return passed();
}

const std::vector<Check>& dataset_checks() {
  static const std::vector<Check> checks{
      {"dataset.describe", "describes itself, with correct types and repeatably", describe},
      {"dataset.unknown_key", "refuses an unknown key", unknown_key},
      {"dataset.garbage_config", "refuses an invalid configuration", garbage_config},
      {"dataset.list", "lists its tasks in a fixed order", list},
      {"dataset.get", "returns each task, and all are valid", get},
      {"dataset.unknown_id", "returns not_found for an unknown id", unknown_id},
      {"dataset.close_null", "accepts a null handle in close", close_null},
  };
  return checks;
}

}  // namespace hone
