// Datasets in C++: the C table around a class that lists tasks and hands them out.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/dataset.h"
#include "hone/plugin/host.hpp"
#include "hone/plugin/parameters.hpp"

namespace hone::plugin {

struct DatasetDescription {
  std::string summary;
  Parameters parameters;
};

struct TaskSummary {
  std::string id;
  std::string title;
  std::string split = "train";
  std::vector<std::string> tags;
  std::vector<std::string> backends;
};

/// What a class must offer to be a dataset. list() and get() are const and may run on several
/// threads at once. The host outlives the object, a copy of `Host` is as good.
template <typename T>
concept DatasetType = requires(const T dataset, const Config config, const Host host,
                               std::string_view id) {
  { T::describe() } -> std::convertible_to<DatasetDescription>;
  T(config, host);
  { dataset.list() } -> std::convertible_to<std::vector<TaskSummary>>;
  { dataset.get(id) } -> std::convertible_to<std::optional<Value>>;  // nullopt: no such task
};

inline Value texts_value(const std::vector<std::string>& list) {
  Value array = Value::array();
  for (const std::string& text : list) array.push(text);
  return array;
}

inline Value summaries_value(const std::vector<TaskSummary>& tasks) {
  Value list = Value::array();
  for (const TaskSummary& t : tasks) {
    list.push(Value::map({{"id", t.id},
                          {"title", t.title},
                          {"split", t.split},
                          {"tags", texts_value(t.tags)},
                          {"backends", texts_value(t.backends)}}));
  }
  return list;
}

/// The C table of a dataset class.
template <DatasetType T>
struct DatasetTable {
  static std::int32_t describe(hone_sink* out, hone_error* error) {
    return guard(error, [&] {
      const DatasetDescription d = T::describe();
      write(out,
            Value::map({{"summary", d.summary}, {"parameters", parameters_value(d.parameters)}}));
    });
  }
  static std::int32_t open(const hone_host* host, hone_bytes config, hone_dataset** out,
                           hone_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      const Config checked(from_msgpack(config), DatasetDescription(T::describe()).parameters);
      *out = reinterpret_cast<hone_dataset*>(new T(checked, Host(host)));
    });
  }
  static std::int32_t list(hone_dataset* dataset, hone_sink* out, hone_error* error) {
    return guard(error, [&] { write(out, summaries_value(self(dataset).list())); });
  }
  static std::int32_t get(hone_dataset* dataset, const char* id, hone_sink* out,
                          hone_error* error) {
    return guard(error, [&] {
      if (const std::optional<Value> task = self(dataset).get(id)) return write(out, *task);
      std::vector<std::string> ids;
      for (const TaskSummary& known : self(dataset).list()) ids.push_back(known.id);
      const std::string near = nearest(id, ids);
      fail(HONE_NOT_FOUND, "no task is called '" + std::string(id) + "'" +
                               (near.empty() ? "" : "; did you mean '" + near + "'?"));
    });
  }
  static void close(hone_dataset* dataset) { delete reinterpret_cast<T*>(dataset); }

  static const void* get_factory(const char* id) {
    static constexpr hone_dataset_factory kTable{
        sizeof(hone_dataset_factory), describe, open, list, get, close};
    return id != nullptr && std::strcmp(id, HONE_DATASET_FACTORY_ID) == 0 ? &kTable : nullptr;
  }

 private:
  static const T& self(hone_dataset* dataset) { return *reinterpret_cast<const T*>(dataset); }
};

}  // namespace hone::plugin
