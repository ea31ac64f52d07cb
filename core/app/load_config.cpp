// Finds and describes backends before a configuration is read.
#include "app/load_config.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "plugin/backend.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

/// Adds the library, or the libraries of a folder, sorted by name.
void add_libraries(const fs::path& path, std::vector<fs::path>& to) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (path.extension() == ".so") to.push_back(path);
    return;
  }
  std::vector<fs::path> found;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".so") found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  to.insert(to.end(), found.begin(), found.end());
}

void describe(const fs::path& path, FoundBackends& found) {
  const auto library = PluginLibrary::load(path);
  if (!library) {
    found.refused.push_back(library.error().message);
    return;
  }
  const auto ids = library->factories();
  if (std::find(ids.begin(), ids.end(), HONE_BACKEND_FACTORY_ID) == ids.end()) return;
  const auto backend = Backend::load(path);
  auto description = backend ? (*backend)->description() : backend.error();
  if (!description) {
    found.refused.push_back(path.filename().string() + ": " + description.error().message);
    return;
  }
  if (const Status good = check_device_files(device_files_of(*description)); !good) {
    found.refused.push_back(path.filename().string() + ": " + good.error().message);
    return;
  }
  const bool known =
      std::any_of(found.described.begin(), found.described.end(),
                  [&](const BackendDescription& other) { return other.name == description->name; });
  if (!known) found.described.push_back(std::move(*description));
}

}  // namespace

FindBackends backends_below(fs::path root) {
  return [root = std::move(root)](const Config& plugins) {
    FoundBackends found;
    std::vector<fs::path> libraries;
    add_libraries(root / "plugins/backends", libraries);
    if (plugins.plugin_host.in_process) {
      for (const std::string& path : plugins.plugin_paths) add_libraries(path, libraries);
    } else if (!plugins.plugin_paths.empty()) {
      found.refused.emplace_back(
          "backends in plugins.paths are not loaded, because they run in hone's own processes; "
          "to trust them, set plugins.in_process: true");
    }
    for (const fs::path& library : libraries) describe(library, found);
    return found;
  };
}

DeviceFiles device_files_of(const BackendDescription& description) {
  return {description.device_nodes, description.driver_folders};
}

Result<LoadedConfig> load_config(const fs::path& path, const std::vector<std::string>& sets) {
  return load_config(path, sets, backends_below(install_root()));
}

}  // namespace hone
