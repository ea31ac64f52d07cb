// Reads, writes and documents the configuration by walking its schema.
#include "config/config.hpp"

#include <memory>

#include "base/files.hpp"
#include "config/schema.hpp"
#include "config/sources.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

/// Reads members from a map.
class Reader : public SchemaVisitor {
 public:
  explicit Reader(Fields& fields) : f_(fields) {}

  void text(std::string_view key, std::string& member, std::string_view) override {
    member = f_.text_or(key, member, 4096);
  }
  void address(std::string_view key, std::string& member, std::string_view doc) override {
    const Value* found = f_.value_or_null(key);
    if (found == nullptr || !found->is_int()) return text(key, member, doc);
    member = std::to_string(found->as_int());
  }
  void choice(std::string_view key, std::string& member, const std::vector<std::string>& allowed,
              std::string_view) override {
    member = f_.choice_or(key, member, allowed);
  }
  void integer(std::string_view key, std::int64_t& member, Range range, std::string_view) override {
    member = f_.integer_or(key, member, static_cast<std::int64_t>(range.low),
                           static_cast<std::int64_t>(range.high));
  }
  void number(std::string_view key, double& member, Range range, std::string_view) override {
    member = f_.number_or(key, member, range.low, range.high);
  }
  void number_or_nil(std::string_view key, std::optional<double>& member, Range range,
                     std::string_view) override {
    if (!f_.has(key)) return;
    if (f_.value_or_null(key) == nullptr) {
      member.reset();
    } else {
      member = f_.number(key, range.low, range.high);
    }
  }
  void flag(std::string_view key, bool& member, std::string_view) override {
    member = f_.flag_or(key, member);
  }
  void texts(std::string_view key, std::vector<std::string>& member, std::string_view) override {
    member = f_.texts_or(key, member);
  }
  void integers_or_all(std::string_view key, std::vector<std::int64_t>& member, Range range,
                       std::string_view doc) override {
    const Value* found = f_.value_or_null(key);
    if (found == nullptr || !found->is_string()) return integers(key, member, range, doc);
    if (found->as_string() != "all")
      f_.mistake(key, "found '" + found->as_string() + "', expected a list of integers, or all");
    member.clear();
  }
  void integers(std::string_view key, std::vector<std::int64_t>& member, Range range,
                std::string_view) override {
    const Value* found = f_.array_or_null(key);
    if (found == nullptr) return;
    member.clear();
    for (const Value& item : found->as_array()) {
      const bool good = item.is_int() && static_cast<double>(item.as_int()) >= range.low &&
                        static_cast<double>(item.as_int()) <= range.high;
      if (!good) f_.mistake(key, "expected integers, found " + to_json(item));
      member.push_back(good ? item.as_int() : 0);
    }
    if (member.empty()) f_.mistake(key, "expected at least one integer, found none");
  }
  void open_map(std::string_view key, Value& member, std::string_view) override {
    if (const Value* found = f_.map_or_null(key)) member = *found;
  }
  void group(std::string_view key, const Walk& walk) override {
    const Value* found = f_.map_or_null(key);
    if (found != nullptr) inside(key, *found, walk);
  }
  void list(std::string_view key, std::size_t, const std::function<void(std::size_t)>& resize,
            const std::function<void(std::size_t, SchemaVisitor&)>& walk,
            std::string_view) override {
    const Value* found = f_.array_or_null(key);
    if (found == nullptr) return;
    resize(found->as_array().size());
    for (std::size_t i = 0; i < found->as_array().size(); ++i) {
      inside(std::string(key) + "/" + std::to_string(i), found->as_array()[i],
             [&](SchemaVisitor& item) { walk(i, item); });
    }
  }

 private:
  void inside(std::string_view key, const Value& member, const Walk& walk) {
    Fields fields = f_.inside(key, member);
    Reader reader(fields);
    walk(reader);
    f_.adopt(fields.finish());
  }

  Fields& f_;
};

/// Writes members to a map.
class Writer : public SchemaVisitor {
 public:
  Value value = Value::map();

  void text(std::string_view key, std::string& m, std::string_view) override { put(key, m); }
  void address(std::string_view key, std::string& m, std::string_view) override { put(key, m); }
  void choice(std::string_view key, std::string& m, const std::vector<std::string>&,
              std::string_view) override {
    put(key, m);
  }
  void integer(std::string_view key, std::int64_t& m, Range, std::string_view) override {
    put(key, m);
  }
  void number(std::string_view key, double& m, Range, std::string_view) override { put(key, m); }
  void number_or_nil(std::string_view key, std::optional<double>& m, Range,
                     std::string_view) override {
    put(key, m ? Value(*m) : Value());
  }
  void flag(std::string_view key, bool& m, std::string_view) override { put(key, m); }
  void texts(std::string_view key, std::vector<std::string>& m, std::string_view) override {
    put(key, Value::Array(m.begin(), m.end()));
  }
  void integers_or_all(std::string_view key, std::vector<std::int64_t>& m, Range range,
                       std::string_view doc) override {
    if (m.empty()) return put(key, "all");
    integers(key, m, range, doc);
  }
  void integers(std::string_view key, std::vector<std::int64_t>& m, Range,
                std::string_view) override {
    put(key, Value::Array(m.begin(), m.end()));
  }
  void open_map(std::string_view key, Value& m, std::string_view) override { put(key, m); }
  void group(std::string_view key, const Walk& walk) override {
    Writer inner;
    walk(inner);
    put(key, std::move(inner.value));
  }
  void list(std::string_view key, std::size_t count, const std::function<void(std::size_t)>&,
            const std::function<void(std::size_t, SchemaVisitor&)>& walk,
            std::string_view) override {
    Value items = Value::array();
    for (std::size_t i = 0; i < count; ++i) {
      Writer inner;
      walk(i, inner);
      items.push(std::move(inner.value));
    }
    put(key, std::move(items));
  }

 private:
  void put(std::string_view key, Value member) { value.set(key, std::move(member)); }
};

std::string absolute_from(const std::filesystem::path& folder, const std::string& path) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
  return std::filesystem::absolute(folder / path).lexically_normal().string();
}

void note_origins(const Value& value, const std::string& pointer, const Sources& sources,
                  LoadedConfig& loaded) {
  if (value.is_map() && !value.as_map().empty()) {
    for (const auto& [key, member] : value.as_map()) {
      note_origins(member, pointer + "/" + pointer_token(key), sources, loaded);
    }
    return;
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      note_origins(value.as_array()[i], pointer + "/" + std::to_string(i), sources, loaded);
    }
  }
  const std::string found = sources.find(pointer, true);
  loaded.origins[pointer] = found.empty() ? "default" : found;
}

/// A path in the file is relative to the file's folder; a path on the command line is relative to the working folder.
void make_paths_absolute(Config& config, const std::filesystem::path& folder,
                         const Sources& sources) {
  const auto locate = [&](std::string_view pointer, std::string& path) {
    const bool typed = sources.find(pointer, true).starts_with("--set ");
    path = absolute_from(typed ? std::filesystem::current_path() : folder, path);
  };
  const auto locate_plugin = [&](std::string_view pointer, std::string& plugin) {
    if (is_plugin_path(plugin)) locate(pointer, plugin);
  };
  locate_plugin("/reward/name", config.reward.name);
  locate_plugin("/environment/name", config.environment.name);
  locate("/journal/path", config.journal.path);
  locate("/web/token_file", config.web.token_file);
  locate("/web/key", config.web.key);
  locate("/environment/templates", config.environment.templates);
  if (config.plugin_host.python.find('/') != std::string::npos)
    locate("/plugins/python", config.plugin_host.python);
  for (const auto& [pointer, python] : interpreters_of(config)) locate(pointer, *python);
  for (std::size_t i = 0; i < config.datasets.size(); ++i) {
    DatasetConfig& dataset = config.datasets[i];
    const std::string pointer = "/datasets/" + std::to_string(i);
    locate_plugin(pointer + "/plugin", dataset.plugin);
    const Value* path = dataset.config.find("path");
    if (path == nullptr || !path->is_string() || path->as_string() == "builtin") continue;
    std::string found = path->as_string();
    locate(pointer + "/config/path", found);
    dataset.config.set("path", found);
  }
  for (std::size_t i = 0; i < config.plugin_paths.size(); ++i)
    locate("/plugins/paths/" + std::to_string(i), config.plugin_paths[i]);
  locate("/server/keys", config.server.keys);
  locate("/isolation/workdir", config.isolation.workdir);
}

/// Gives each backend of device code its section. Returns why others have none.
std::vector<std::string> add_sections(Config& config, const FindBackends& find,
                                      const std::filesystem::path& folder, const Sources& sources) {
  if (!find) return {};
  Config plugins;  // mistakes in it are reported when the whole configuration is read
  if (const Value* section = sources.document.value.find("plugins")) {
    const Value alone = Value::map({{"plugins", *section}});
    Fields fields(alone, sources.name);
    Reader reader(fields);
    walk_config(plugins, reader);
    make_paths_absolute(plugins, folder, sources);
  }
  FoundBackends found = find(plugins);
  const Value taken = config_to_value(Config());
  for (BackendDescription& one : found.described) {
    const std::string name = one.name;
    if (name == "cpu") continue;  // its section is part of the schema
    if (!one.has_device_code()) {
      found.refused.push_back("backend '" + name +
                              "': withholds: found 'freeze', which is the contract of the backend "
                              "'cpu'; expected 'stream' or 'copy'");
      continue;
    }
    if (taken.find(name) != nullptr) {
      found.refused.push_back("backend '" + name + "': the configuration has a section '" + name +
                              "'; rename the backend");
      continue;
    }
    BackendConfig& section = config.backends[name];
    for (const BackendParameter& parameter : one.parameters)
      section.options.set(parameter.name, parameter.fallback);
    section.description = std::move(one);
  }
  return std::move(found.refused);
}

/// If the configuration names an unknown backend, the error says which backends were refused.
Status explained(Status status, const Config& config, const Value& document,
                 const std::vector<std::string>& refused) {
  const Value* backend = document.find("backend");
  if (status || refused.empty() || backend == nullptr || !backend->is_string()) return status;
  const std::string& name = backend->as_string();
  if (name == "cpu" || config.backends.count(name) != 0) return status;
  std::string reasons;
  for (const std::string& reason : refused) reasons += "; " + reason;
  return Error{status.error().code, status.error().message + reasons};
}

/// Rules that involve more than one key.
Status check_whole(const Config& c, const Sources& sources) {
  const auto refuse = [&](std::string_view pointer, const std::string& message) {
    const std::string where = sources.find(pointer, false);
    return invalid_argument((where.empty() ? sources.name : where) + ": " + message);
  };
  if (c.datasets.empty())
    return refuse("/datasets", "datasets: the list is empty; expected at least one dataset");
  for (std::size_t i = 0; i < c.datasets.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (c.datasets[i].name == c.datasets[k].name) {
        return refuse(
            "/datasets/" + std::to_string(i) + "/name",
            "datasets: two datasets have the name '" + c.datasets[i].name + "'; rename one");
      }
    }
  }
  if (c.evaluate.measure.pairs_max < c.evaluate.measure.pairs_min) {
    return refuse("/evaluate/measure/pairs_max", "pairs_max: found " +
                                                     std::to_string(c.evaluate.measure.pairs_max) +
                                                     ", expected at least pairs_min, " +
                                                     std::to_string(c.evaluate.measure.pairs_min));
  }
  if (c.server.limits.message_bytes < c.server.limits.frame_bytes) {
    return refuse("/server/limits/message_bytes",
                  "message_bytes: found " + std::to_string(c.server.limits.message_bytes) +
                      ", expected at least frame_bytes, " +
                      std::to_string(c.server.limits.frame_bytes));
  }
  return {};
}

/// Checks paths at the start; a missing one would fail only at its first use.
Status check_paths(const LoadedConfig& loaded) {
  const Config& c = loaded.config;
  std::vector<std::pair<std::string, std::string>> paths;  // by JSON pointer
  for (std::size_t i = 0; i < c.plugin_paths.size(); ++i)
    paths.emplace_back("/plugins/paths/" + std::to_string(i), c.plugin_paths[i]);
  for (std::size_t i = 0; i < c.cpu.readable.size(); ++i)
    paths.emplace_back("/cpu/readable/" + std::to_string(i), c.cpu.readable[i]);
  if (!c.isolation.workdir.empty()) paths.emplace_back("/isolation/workdir", c.isolation.workdir);
  for (const auto& [pointer, path] : paths) {
    std::error_code error;
    if (std::filesystem::status(path, error).type() != std::filesystem::file_type::not_found) {
      continue;
    }
    std::string key = pointer.substr(1, pointer.find('/', pointer.find('/', 1) + 1) - 1);
    key[key.find('/')] = '.';
    return invalid_argument(loaded.place(pointer) + ": " + key + ": " + path +
                            ": no such file or folder");
  }
  return {};
}

}  // namespace

std::map<std::string, std::string*> interpreters_of(Config& config) {
  std::map<std::string, std::string*> found{{"/cpu/python", &config.cpu.python}};
  for (auto& [name, section] : config.backends) found["/" + name + "/python"] = &section.python;
  return found;
}

Result<LoadedConfig> parse_config(std::string_view text, std::string_view name,
                                  const std::filesystem::path& folder,
                                  const std::vector<std::string>& sets, const FindBackends& find) {
  Sources sources{std::string(name), {}, {}};
  HONE_ASSIGN(sources.document, parse_yaml(text, name));
  if (sources.document.value.is_nil()) sources.document.value = Value::map();
  for (const std::string& set : sets) HONE_TRY(sources.apply_set(set));

  LoadedConfig loaded;
  Config& config = loaded.config;
  const std::vector<std::string> refused = add_sections(config, find, folder, sources);
  Fields fields(sources.document.value, std::string(name),
                [&](std::string_view pointer) { return sources.find(pointer, false); });
  Reader reader(fields);
  walk_config(config, reader);
  HONE_TRY(explained(fields.finish(), config, sources.document.value, refused));
  HONE_TRY(check_whole(config, sources));

  make_paths_absolute(config, folder, sources);
  note_origins(config_to_value(config), "", sources, loaded);
  return loaded;
}

Result<LoadedConfig> load_config(const std::filesystem::path& path,
                                 const std::vector<std::string>& sets, const FindBackends& find) {
  std::string text, name = "defaults";
  std::filesystem::path folder = std::filesystem::current_path();
  if (!path.empty()) {
    HONE_ASSIGN(text, read_text(path, YamlLimits().bytes_max));
    name = path.string();
    folder = std::filesystem::absolute(path).parent_path();
  }
  HONE_ASSIGN(LoadedConfig loaded, parse_config(text, name, folder, sets, find));
  HONE_TRY(check_paths(loaded));
  return loaded;
}

std::string LoadedConfig::place(std::string_view pointer) const {
  const std::string inside = std::string(pointer) + "/";
  for (auto at = origins.lower_bound(pointer); at != origins.end(); ++at) {
    if (at->first > inside + "\x7f") break;
    const bool of_it = at->first == pointer || at->first.starts_with(inside);
    if (of_it && at->second != "default") return at->second;
  }
  return "";
}

Value config_to_value(const Config& config) {
  Config copy = config;  // a visitor may change what it visits; this one does not
  Writer writer;
  walk_config(copy, writer);
  return writer.value;
}

}  // namespace hone
