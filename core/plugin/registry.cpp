// Scanning folders for plugins and opening them by name.
#include "plugin/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/nearest.hpp"
#include "plugin/lazy_plugin.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<PluginKind, std::string_view> kFolders[] = {
    {PluginKind::kReward, "rewards"},
    {PluginKind::kDataset, "datasets"},
    {PluginKind::kBackend, "backends"},
    {PluginKind::kEnvironment, "environments"},
};

std::optional<PluginKind> kind_of(const std::string& factory_id) {
  for (const auto& [kind, folder] : kFolders) {
    if (kind_factory_id(kind) == factory_id) return kind;
  }
  return std::nullopt;
}

/// Refuses a table with a wrong size or missing functions when it is found, not at its first use.
Status check_table(const PluginLibrary& library, const std::string& factory_id) {
  switch (kind_of(factory_id).value_or(PluginKind::kReward)) {
    case PluginKind::kReward:
      HONE_TRY(reward_factory(library));
      return {};
    case PluginKind::kDataset:
      HONE_TRY(dataset_factory(library));
      return {};
    case PluginKind::kBackend:
      HONE_TRY(backend_factory(library));
      return {};
    case PluginKind::kEnvironment:
      return invalid_argument("found an environment in a library, expected a Python file (.py)");
  }
  return {};
}

bool offers(const PluginInfo& info, PluginKind kind) {
  return std::find(info.factories.begin(), info.factories.end(), kind_factory_id(kind)) !=
         info.factories.end();
}

bool is_below(const fs::path& path, const fs::path& root) {
  std::error_code ignored;
  const fs::path relative =
      fs::weakly_canonical(path, ignored).lexically_relative(fs::weakly_canonical(root, ignored));
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::string_view kind_name(PluginKind kind) {
  switch (kind) {
    case PluginKind::kReward:
      return "reward";
    case PluginKind::kDataset:
      return "dataset";
    case PluginKind::kBackend:
      return "backend";
    case PluginKind::kEnvironment:
      return "environment";
  }
  return "reward";
}

std::string_view kind_factory_id(PluginKind kind) {
  switch (kind) {
    case PluginKind::kReward:
      return HONE_REWARD_FACTORY_ID;
    case PluginKind::kDataset:
      return HONE_DATASET_FACTORY_ID;
    case PluginKind::kBackend:
      return HONE_BACKEND_FACTORY_ID;
    case PluginKind::kEnvironment:
      return kEnvironmentFactoryId;
  }
  return HONE_REWARD_FACTORY_ID;
}

Registry::Registry(RegistryOptions options) : options_(std::move(options)) {
  for (const fs::path& root : options_.roots) {
    for (const auto& [kind, folder] : kFolders) scan_folder(root / "plugins" / folder, kind, true);
  }
  for (const fs::path& path : options_.extra) {
    const bool inside =
        std::any_of(options_.roots.begin(), options_.roots.end(),
                    [&](const fs::path& root) { return is_below(path, root / "plugins"); });
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      scan_folder(path, PluginKind::kReward, inside);
    } else {
      add(path, PluginKind::kReward, inside);
    }
  }
}

void Registry::scan_folder(const fs::path& folder, PluginKind kind, bool inside) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path ending = it->path().extension();
    if (ending == ".so" || ending == ".py") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add(file, kind, inside);
}

void Registry::add(const fs::path& path, PluginKind folder_kind, bool inside) {
  PluginInfo info;
  info.kind = folder_kind;
  info.name = path.stem().string();
  info.path = fs::absolute(path).lexically_normal();
  if (std::any_of(infos_.begin(), infos_.end(),
                  [&](const PluginInfo& other) { return other.path == info.path; })) {
    return;  // it is named twice: in plugins.paths, and where it is used
  }
  Result<Found> loaded = load(info.path, inside, info);
  const Status checked = loaded ? check(*loaded, info) : Status(loaded.error());
  if (!checked) info.error = checked.error().message;
  infos_.push_back(std::move(info));
  found_.push_back(checked ? std::move(loaded).value() : Found{});
}

Result<Registry::Found> Registry::load(const fs::path& path, bool inside, PluginInfo& info) const {
  const bool python = path.extension() == ".py";
  if (python && !options_.start_process) {
    return Error{Code::kUnimplemented,
                 path.filename().string() + ": this program cannot run Python plugins"};
  }
  Found found;
  if (python || (!inside && !options_.in_process && options_.start_process)) {
    if (inside) {
      found.process = std::make_shared<const LazyPlugin>(
          path, std::string(kind_factory_id(info.kind)), options_.start_process);
    } else {
      HONE_ASSIGN(found.process, options_.start_process(path));
    }
    info.name = found.process->name();
    info.version = found.process->version();
    info.factories = found.process->factories();
    info.runs_in = found.process->runs_in();
    return found;
  }
  HONE_ASSIGN(found.library, PluginLibrary::load(path));
  info.name = found.library->name();
  info.version = found.library->version();
  info.factories = found.library->factories();
  info.runs_in = "hone";
  return found;
}

Status Registry::check(const Found& found, PluginInfo& info) const {
  const std::string file = info.path.filename().string();
  if (info.factories.empty()) {
    return invalid_argument(file + ": offers no reward, dataset, environment or backend");
  }
  info.kind = kind_of(info.factories.front()).value_or(info.kind);
  if (found.process && offers(info, PluginKind::kBackend)) {
    return invalid_argument(file +
                            ": a backend must run in hone's own processes; to trust it, set "
                            "plugins.in_process: true");
  }
  for (const std::string& id : info.factories) {
    if (found.library) HONE_TRY(check_table(*found.library, id));
  }
  return check_unique(info);
}

Status Registry::check_unique(const PluginInfo& found) const {
  for (const std::string& id : found.factories) {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const PluginInfo& other = infos_[i];
      if (found_[i].good() && other.name == found.name && offers(other, *kind_of(id))) {
        return invalid_argument(found.path.filename().string() + ": the name '" + found.name +
                                "' is taken by " + other.path.string());
      }
    }
  }
  return {};
}

Result<std::string> Registry::name_of(const std::string& name_or_path) const {
  if (!is_plugin_path(name_or_path)) return name_or_path;
  const fs::path path = fs::absolute(name_or_path).lexically_normal();
  for (const PluginInfo& info : infos_) {
    if (info.path != path) continue;
    if (!info.error.empty()) return failed_precondition(info.error);
    return info.name;
  }
  return not_found(name_or_path + ": the plugin is not loaded");
}

Result<const Registry::Found*> Registry::find(PluginKind kind, std::string_view name) const {
  std::vector<std::string> names;
  const PluginInfo* refused = nullptr;
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (!found_[i].good()) {
      if (infos_[i].name == name) refused = &infos_[i];
      continue;
    }
    if (!offers(infos_[i], kind)) continue;
    if (infos_[i].name == name) return &found_[i];
    names.push_back(infos_[i].name);
  }
  if (refused != nullptr) {
    return failed_precondition(std::string(kind_name(kind)) + " '" + std::string(name) +
                               "' was refused: " + refused->error);
  }
  return not_found(unknown_name(kind_name(kind), name, names));
}

Result<PluginLibrary> Registry::library(PluginKind kind, std::string_view name) const {
  HONE_ASSIGN(const Found* found, find(kind, name));
  if (found->library) return *found->library;
  return failed_precondition(std::string(kind_name(kind)) + " '" + std::string(name) +
                             "' runs in a plugin host");
}

Result<std::shared_ptr<HostServices>> Registry::services(const PluginLibrary& found) const {
  HostOptions host = options_.host;
  if (!host.workdir.empty()) {
    const fs::path own = fs::path(host.workdir) / found.name();
    std::error_code error;
    fs::create_directories(own, error);
    if (error) return system_error("create " + own.string(), error.value());
    host.workdir = own.string();
  }
  return std::make_shared<HostServices>(found.name(), std::move(host));
}

Result<Value> Registry::describe(PluginKind kind, std::string_view name) const {
  HONE_ASSIGN(const Found* found, find(kind, name));
  if (found->process) return found->process->describe(std::string(kind_factory_id(kind)));
  if (kind == PluginKind::kReward) return Reward::describe(*found->library);
  if (kind == PluginKind::kDataset) return Dataset::describe(*found->library);
  HONE_ASSIGN(auto backend, open_backend(name));
  return backend->describe(Value::map());
}

Result<std::unique_ptr<Reward>> Registry::open_reward(std::string_view name,
                                                      const Value& config) const {
  HONE_ASSIGN(const Found* found, find(PluginKind::kReward, name));
  if (found->process) {
    HONE_ASSIGN(auto calls, found->process->create_reward(config));
    return std::make_unique<Reward>(found->process->name(), config, std::move(calls));
  }
  HONE_ASSIGN(auto host, services(*found->library));
  return Reward::create(*found->library, config, std::move(host));
}

Result<std::unique_ptr<Dataset>> Registry::open_dataset(std::string_view name,
                                                        std::string dataset_name,
                                                        const Value& config) const {
  HONE_ASSIGN(const Found* found, find(PluginKind::kDataset, name));
  if (found->process) {
    HONE_ASSIGN(auto calls, found->process->open_dataset(config));
    return std::make_unique<Dataset>(std::move(dataset_name), found->process->name(),
                                     std::move(calls));
  }
  HONE_ASSIGN(auto host, services(*found->library));
  return Dataset::open(*found->library, std::move(dataset_name), config, std::move(host));
}

Result<std::unique_ptr<Backend>> Registry::open_backend(std::string_view name) const {
  HONE_ASSIGN(const PluginLibrary found, library(PluginKind::kBackend, name));
  HONE_ASSIGN(auto host, services(found));
  return Backend::open(found, std::move(host));
}

Result<std::unique_ptr<const EnvironmentCalls>> Registry::open_environment(
    std::string_view name) const {
  HONE_ASSIGN(const Found* found, find(PluginKind::kEnvironment, name));
  return found->process->open_environment();
}

}  // namespace hone
