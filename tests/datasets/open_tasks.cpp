// Loads the plugin from the build folder, with core/config as its YAML parser, like the server does.
#include "datasets/open_tasks.hpp"

#include "config/yaml.hpp"
#include "places.hpp"

namespace hone {

std::filesystem::path shipped_tasks() { return test::source_dir() / "envs/kernel_refine/tasks"; }

Result<std::unique_ptr<Dataset>> open_tasks(const std::filesystem::path& folder) {
  HONE_ASSIGN(const PluginLibrary library,
              PluginLibrary::load(test::build_dir() / "plugins/datasets/tasks.so"));
  HostOptions options;
  options.parse_yaml = [](std::string_view text, std::string_view name) -> Result<Value> {
    HONE_ASSIGN(const YamlDocument document, parse_yaml(text, name));
    return document.to_value();
  };
  return Dataset::open(library, "tasks", Value::map({{"path", folder.string()}}),
                       std::make_shared<HostServices>("tasks", options));
}

}  // namespace hone
