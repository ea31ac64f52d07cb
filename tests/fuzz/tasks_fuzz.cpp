// A dataset of one task as people write it: task.yaml, dataset.yaml, and the host's checks.
#include "config/yaml.hpp"
#include "fuzz/fuzz.hpp"
#include "hone/dataset.h"
#include "model/task.hpp"
#include "plugin/call.hpp"
#include "plugin/host_services.hpp"

namespace hone::fuzz {
namespace {

const hone_dataset_factory& factory() {
  return *static_cast<const hone_dataset_factory*>(
      hone_plugin_entry.get_factory(HONE_DATASET_FACTORY_ID));
}

HostServices& services() {
  static HostServices services("tasks", {[](std::string_view text, std::string_view name) {
                                           auto document = parse_yaml(text, name);
                                           return document ? Result<Value>(document->to_value())
                                                           : Result<Value>(document.error());
                                         },
                                         {},
                                         ""});
  return services;
}

/// The task's folder, with sources that do not change.
std::filesystem::path task_folder() {
  static const std::filesystem::path kFolder = [] {
    const std::filesystem::path folder = scratch() / "tasks" / "add_relu";
    std::filesystem::create_directories(folder);
    put_file(folder / "reference.cpp", "// reference\n");
    put_file(folder / "baseline.cpp", "// baseline\n");
    return folder;
  }();
  return kFolder;
}

/// A task that the dataset lets through: the host takes it or refuses it, and knows it again.
void check_task(const Value& value) {
  const auto task = task_from_value(value);
  if (!task) return check_error(task.error());
  check(!task->backends.empty() && !task->shown.empty(), "a task has a backend and a shape");
  for (const Tensor& tensor : task->tensors) {
    const auto count = element_count(tensor, task->timed);
    check(count && *count >= 1 && *count <= std::int64_t{1} << 32, "a tensor's size is bounded");
  }
  const Value whole = task_to_value(*task);
  const auto again = task_from_value(whole);
  check(again.ok() && same(task_to_value(*again), whole), "a task is read as it was written");
  const Value shown = task_for_client(*task, "cpu");
  check(shown.find("backends") == nullptr && shown.find("shapes")->find("hidden") == nullptr,
        "a client sees neither sources nor hidden shapes");
}

}  // namespace

void one(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::filesystem::path folder = task_folder(), path = folder.parent_path();
  put_file(folder / "task.yaml", bytes.substr(0, end));
  std::filesystem::remove(path / "dataset.yaml");
  if (end < bytes.size()) put_file(path / "dataset.yaml", bytes.substr(end + 1));

  hone_dataset* dataset = nullptr;
  const std::string config = to_msgpack(Value::map({{"path", path.string()}}));
  const Status opened = call_plugin("tasks: open", [&](hone_error* error) {
    return factory().open(services().table(), borrow(config), &dataset, error);
  });
  if (!opened) {
    check(opened.error().code == Code::kInvalidArgument, "a mistake in a file is invalid_argument");
    return check_error(opened.error(), "tasks: open: " + path.string());
  }
  const auto list = call_for_value("tasks: list", [&](hone_sink* out, hone_error* error) {
    return factory().list(dataset, out, error);
  });
  check(list && list->is_array() && list->as_array().size() == 1, "a folder of one task has one");
  const std::string id = list->as_array()[0].find("id")->as_string();
  const auto task = call_for_value("tasks: get", [&](hone_sink* out, hone_error* error) {
    return factory().get(dataset, id.c_str(), out, error);
  });
  factory().close(dataset);
  check(task.ok(), "a task that is listed is there");
  check_task(*task);
}

}  // namespace hone::fuzz
