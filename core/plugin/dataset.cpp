// Calls a dataset and checks its tasks.
#include "plugin/dataset.hpp"

#include <set>

#include "model/fields.hpp"
#include "plugin/call.hpp"
#include "plugin/factory.hpp"

namespace hone {
namespace {

/// A handle of a library in this process.
class LibraryDatasetCalls final : public DatasetCalls {
 public:
  LibraryDatasetCalls(std::string plugin, const hone_dataset_factory& factory,
                      std::shared_ptr<HostServices> services)
      : plugin_(std::move(plugin)), factory_(factory), services_(std::move(services)) {}
  ~LibraryDatasetCalls() override {
    call_void(plugin_ + ": close", [this] { factory_.close(handle_); });
  }
  LibraryDatasetCalls(const LibraryDatasetCalls&) = delete;
  LibraryDatasetCalls& operator=(const LibraryDatasetCalls&) = delete;

  Status open(const Value& config) {
    const std::string bytes = to_msgpack(config);
    HONE_TRY(call_plugin(plugin_ + ": open", [&](hone_error* error) {
      return factory_.open(services_->table(), borrow(bytes), &handle_, error);
    }));
    if (handle_ != nullptr) return {};
    return internal_error(plugin_ + ": open: succeeded without a handle");
  }
  Result<Value> list() const override {
    return call_for_value(plugin_ + ": list", [&](hone_sink* out, hone_error* error) {
      return factory_.list(handle_, out, error);
    });
  }
  Result<Value> get(const std::string& id) const override {
    return call_for_value(plugin_ + ": get", [&](hone_sink* out, hone_error* error) {
      return factory_.get(handle_, id.c_str(), out, error);
    });
  }

 private:
  const std::string plugin_;
  const hone_dataset_factory& factory_;
  const std::shared_ptr<HostServices> services_;
  hone_dataset* handle_ = nullptr;
};

}  // namespace

Result<const hone_dataset_factory*> dataset_factory(const PluginLibrary& library) {
  HONE_ASSIGN(const hone_dataset_factory* table,
              checked_factory<hone_dataset_factory>(library, HONE_DATASET_FACTORY_ID));
  HONE_TRY(check_functions(library, {{"describe", table->describe != nullptr},
                                     {"open", table->open != nullptr},
                                     {"list", table->list != nullptr},
                                     {"get", table->get != nullptr},
                                     {"close", table->close != nullptr}}));
  return table;
}

Result<std::vector<TaskEntry>> entries_from_value(const Value& written) {
  if (!written.is_array()) {
    return internal_error("expected a list, found " + std::string(written.type_name()));
  }
  std::vector<TaskEntry> entries;
  std::set<std::string> ids;
  for (const Value& item : written.as_array()) {
    const std::string where = "item " + std::to_string(entries.size());
    Fields f(item, where);
    TaskEntry entry;
    entry.id = f.text("id", 128);
    entry.title = f.text("title");
    entry.split = f.text("split", 128);
    entry.tags = f.texts_or("tags", {});
    entry.backends = f.texts_or("backends", {});
    if (const Status read = f.finish_loosely(); !read) return internal_error(read.error().message);
    if (entry.id.empty()) return internal_error(where + ": id: expected a name, found none");
    if (!ids.insert(entry.id).second) {
      return internal_error(where + ": id: '" + entry.id + "' occurs twice, expected once");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<Value> Dataset::describe(const PluginLibrary& library) {
  HONE_ASSIGN(const hone_dataset_factory* table, dataset_factory(library));
  return call_for_value(library.name() + ": describe", table->describe);
}

Result<std::unique_ptr<Dataset>> Dataset::open(const PluginLibrary& library, std::string name,
                                               const Value& config,
                                               std::shared_ptr<HostServices> services) {
  HONE_ASSIGN(const hone_dataset_factory* table, dataset_factory(library));
  auto calls = std::make_unique<LibraryDatasetCalls>(library.name(), *table, std::move(services));
  HONE_TRY(calls->open(config));
  return std::make_unique<Dataset>(std::move(name), library.name(), std::move(calls));
}

Result<std::vector<TaskEntry>> Dataset::list() const {
  HONE_ASSIGN(const Value written, calls_->list());
  auto entries = entries_from_value(written);
  if (!entries) return entries.error().in(plugin_ + ": list");
  return entries;
}

Result<Task> Dataset::get(std::string_view id) const {
  const std::string who = plugin_ + ": get";
  const std::string text(id);
  if (text.size() > 128 || text.find('\0') != std::string::npos) {
    return not_found(who + ": no task has an id of " + std::to_string(text.size()) +
                     " bytes or with a NUL");
  }
  HONE_ASSIGN(const Value written, calls_->get(text));
  auto task = task_from_value(written);
  if (!task) return internal_error(who + ": " + text + ": " + task.error().message);
  if (task->id != text) {
    return internal_error(who + ": expected the task '" + text + "', found '" + task->id + "'");
  }
  task->dataset = name_;
  return task;
}

}  // namespace hone
