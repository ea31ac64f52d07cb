// Paths of the fixture plugins and of shipped plugins, and shared helpers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "places.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"

namespace hone::test {

inline std::filesystem::path fixture(const std::string& name) {
  return test::build_dir() / "tests/plugins" / (name + ".so");
}
inline std::filesystem::path shipped_reward(const std::string& name) {
  return test::build_dir() / "plugins/rewards" / (name + ".so");
}
/// The folders of plugins/rewards that are built.
inline std::vector<std::string> shipped_rewards() {
  std::vector<std::string> names;
  for (const auto& folder :
       std::filesystem::directory_iterator(test::source_dir() / "plugins/rewards")) {
    if (!std::filesystem::exists(folder.path() / "CMakeLists.txt")) continue;
    names.push_back(folder.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}
inline std::shared_ptr<HostServices> services(const std::string& name = "test") {
  return std::make_shared<HostServices>(name, HostOptions{});
}
inline PluginLibrary load(const std::filesystem::path& path) {
  auto library = PluginLibrary::load(path);
  if (!library) ADD_FAILURE() << library.error().message;
  return std::move(library).value();
}

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hone::test
