// Registry: finds the plugins of this installation and of configured folders, and opens them by
// name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"
#include "plugin/dataset.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"
#include "plugin/plugin_process.hpp"
#include "plugin/reward.hpp"

namespace hone {

enum class PluginKind { kReward, kDataset, kBackend, kEnvironment };
std::string_view kind_name(PluginKind kind);  ///< "reward", "dataset", "backend", "environment"
std::string_view kind_factory_id(PluginKind kind);  ///< "hone.reward/1", …

/// One library that was found, loaded or refused.
struct PluginInfo {
  PluginKind kind =
      PluginKind::kReward;  ///< kind of its first factory; kind of its folder if it was refused
  std::string name;         ///< name in its entry; name of the file if it was refused
  std::string version;
  std::filesystem::path path;
  std::vector<std::string> factories;
  std::string runs_in;  ///< "hone", or the name of its plugin host
  std::string error;    ///< reason of a refusal; else empty
};

struct RegistryOptions {
  /// Each is searched for plugins/{rewards,datasets,backends}/*.so and *.py; these last are started
  /// when they are first asked something.
  std::vector<std::filesystem::path> roots;
  /// Libraries, Python files, and folders with either, of any kind.
  std::vector<std::filesystem::path> extra;
  /// The services for all plugins. `workdir`: each plugin gets a folder with its name in there.
  HostOptions host;
  /// Starts plugins that are outside the roots in their own processes. Without it, libraries run in this process, and Python files are refused.
  StartPluginProcess start_process = {};
  /// Runs every library in this process, wherever its file is. Does not apply to Python files.
  bool in_process = false;
};

/// Loads every plugin it finds when it is made; the order is that of the roots, then of names. Of
/// two plugins of one kind and name the first stands and the second is refused. Constant
/// afterwards. [any thread]
///
///   const Registry registry({{install_root()}, {}, host});
///   HONE_ASSIGN(auto reward, registry.open_reward("kevin", Value::map()));
class Registry {
 public:
  explicit Registry(RegistryOptions options);

  const std::vector<PluginInfo>& plugins() const { return infos_; }

  /// The name of a plugin that is configured by its path. A name is returned unchanged.
  Result<std::string> name_of(const std::string& name_or_path) const;

  /// The plugin's description; for a backend with an empty configuration.
  Result<Value> describe(PluginKind kind, std::string_view name) const;

  Result<std::unique_ptr<Reward>> open_reward(std::string_view name, const Value& config) const;
  /// `dataset_name`: the dataset's name in the configuration.
  Result<std::unique_ptr<Dataset>> open_dataset(std::string_view name, std::string dataset_name,
                                                const Value& config) const;
  Result<std::unique_ptr<Backend>> open_backend(std::string_view name) const;
  Result<std::unique_ptr<const EnvironmentCalls>> open_environment(std::string_view name) const;

  /// The library of a plugin in this process. not_found has the nearest name, or the reason of a refusal.
  Result<PluginLibrary> library(PluginKind kind, std::string_view name) const;

 private:
  /// A loaded plugin: one of the two members is set, none if it was refused.
  struct Found {
    std::optional<PluginLibrary> library;
    std::shared_ptr<const PluginProcess> process;
    bool good() const { return library.has_value() || process != nullptr; }
  };

  void scan_folder(const std::filesystem::path& folder, PluginKind kind, bool inside);
  void add(const std::filesystem::path& path, PluginKind folder_kind, bool inside);
  Result<Found> load(const std::filesystem::path& path, bool inside, PluginInfo& info) const;
  Status check(const Found& found, PluginInfo& info) const;
  Status check_unique(const PluginInfo& found) const;
  Result<const Found*> find(PluginKind kind, std::string_view name) const;
  Result<std::shared_ptr<HostServices>> services(const PluginLibrary& found) const;

  const RegistryOptions options_;
  std::vector<PluginInfo> infos_;
  std::vector<Found> found_;  // parallel to infos_
};

}  // namespace hone
