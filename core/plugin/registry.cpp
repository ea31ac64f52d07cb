// Scanning folders for plugins and opening them by name.
#include "plugin/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<PluginKind, std::string_view> kFolders[] = {
    {PluginKind::kReward, "rewards"},
    {PluginKind::kDataset, "datasets"},
    {PluginKind::kBackend, "backends"},
};

std::optional<PluginKind> kind_of(const std::string& factory_id) {
  for (const auto& [kind, folder] : kFolders) {
    if (kind_factory_id(kind) == factory_id) return kind;
  }
  return std::nullopt;
}

/// A table of the wrong size or with holes is refused when it is found, not when it is first used.
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
  }
  return {};
}

bool offers(const PluginInfo& info, PluginKind kind) {
  return std::find(info.factories.begin(), info.factories.end(), kind_factory_id(kind)) !=
         info.factories.end();
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
  }
  return HONE_REWARD_FACTORY_ID;
}

Registry::Registry(RegistryOptions options) : options_(std::move(options)) {
  for (const fs::path& root : options_.roots) {
    for (const auto& [kind, folder] : kFolders) scan_folder(root / "plugins" / folder, kind);
  }
  for (const fs::path& path : options_.extra) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      scan_folder(path, PluginKind::kReward);
    } else {
      add(path, PluginKind::kReward);
    }
  }
}

void Registry::scan_folder(const fs::path& folder, PluginKind kind) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".so") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add(file, kind);
}

void Registry::add(const fs::path& path, PluginKind folder_kind) {
  PluginInfo info;
  info.kind = folder_kind;
  info.name = path.stem().string();
  info.path = fs::absolute(path).lexically_normal();
  auto loaded = PluginLibrary::load(path);
  Status checked = loaded ? Status() : Status(loaded.error());
  if (loaded) {
    info.name = loaded->name();
    info.version = loaded->version();
    info.factories = loaded->factories();
    if (info.factories.empty()) {
      checked = invalid_argument(loaded->file() + ": offers no reward, dataset or backend");
    } else {
      info.kind = kind_of(info.factories.front()).value_or(folder_kind);
    }
    for (const std::string& id : info.factories) {
      if (checked) checked = check_table(*loaded, id);
    }
    if (checked) checked = check_unique(*loaded);
  }
  if (!checked) info.error = checked.error().message;
  infos_.push_back(std::move(info));
  libraries_.push_back(checked ? std::optional<PluginLibrary>(std::move(loaded).value())
                               : std::nullopt);
}

Status Registry::check_unique(const PluginLibrary& found) const {
  for (const std::string& id : found.factories()) {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const PluginInfo& other = infos_[i];
      if (libraries_[i] && other.name == found.name() && offers(other, *kind_of(id))) {
        return invalid_argument(found.file() + ": the name '" + found.name() + "' is taken by " +
                                other.path.string());
      }
    }
  }
  return {};
}

Result<PluginLibrary> Registry::library(PluginKind kind, std::string_view name) const {
  std::vector<std::string> names;
  const PluginInfo* refused = nullptr;
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (!libraries_[i]) {
      if (infos_[i].name == name) refused = &infos_[i];
      continue;
    }
    if (!offers(infos_[i], kind)) continue;
    if (infos_[i].name == name) return *libraries_[i];
    names.push_back(infos_[i].name);
  }
  if (refused != nullptr) {
    return failed_precondition(std::string(kind_name(kind)) + " '" + std::string(name) +
                               "' was refused: " + refused->error);
  }
  return not_found(unknown_name(kind_name(kind), name, names));
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
  HONE_ASSIGN(const PluginLibrary found, library(kind, name));
  if (kind == PluginKind::kReward) return Reward::describe(found);
  if (kind == PluginKind::kDataset) return Dataset::describe(found);
  HONE_ASSIGN(auto backend, open_backend(name));
  return backend->describe(Value::map());
}

Result<std::unique_ptr<Reward>> Registry::open_reward(std::string_view name,
                                                      const Value& config) const {
  HONE_ASSIGN(const PluginLibrary found, library(PluginKind::kReward, name));
  HONE_ASSIGN(auto host, services(found));
  return Reward::create(found, config, std::move(host));
}

Result<std::unique_ptr<Dataset>> Registry::open_dataset(std::string_view name,
                                                        std::string dataset_name,
                                                        const Value& config) const {
  HONE_ASSIGN(const PluginLibrary found, library(PluginKind::kDataset, name));
  HONE_ASSIGN(auto host, services(found));
  return Dataset::open(found, std::move(dataset_name), config, std::move(host));
}

Result<std::unique_ptr<Backend>> Registry::open_backend(std::string_view name) const {
  HONE_ASSIGN(const PluginLibrary found, library(PluginKind::kBackend, name));
  HONE_ASSIGN(auto host, services(found));
  return Backend::open(found, std::move(host));
}

}  // namespace hone
