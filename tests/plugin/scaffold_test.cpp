// A generated plugin builds with the two commands of docs/plugins.md, and passes `hone validate`.
#include "conformance/scaffold.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.hpp"
#include "conformance/validate.hpp"
#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

const fs::path kBuild = test::build_dir();

struct Kind {
  const char* kind;
  const char* name;
};
class Scaffold : public testing::TestWithParam<Kind> {};

TEST_P(Scaffold, GeneratedPlugin_BuildsAndPassesValidation) {
  const test::TemporaryFolder folder;
  const fs::path target = folder.path() / "plugin";
  const Status written = write_plugin_template(GetParam().kind, GetParam().name, target, kBuild);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const std::string cmake = "'" HONE_CMAKE "'";
  const std::string command = "cd '" + target.string() + "' && (" + cmake + " -B build && " +
                              cmake + " --build build) > log.txt 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file(target / "log.txt").value();
  const fs::path library = target / "build" / (std::string(GetParam().name) + ".so");
  const auto report = validate_plugin(library, kBuild / "tests/hone_validate_test_driver");
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->name, GetParam().name);
  EXPECT_TRUE(report->ok());
  for (const ValidatedCheck& check : report->checks) {
    EXPECT_TRUE(check.result.outcome == CheckOutcome::kPassed ||
                check.result.message == "has no parameters")
        << check.id << ": " << check.result.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Scaffold,
                         testing::Values(Kind{"reward", "my_first"}, Kind{"reward-c", "tiny"},
                                         Kind{"dataset", "basics2"},
                                         Kind{"backend", "tiny_device"}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(ScaffoldRefuses, BadNamesKindsAndFullFolders_AreRefused) {
  const test::TemporaryFolder folder;
  const auto message = [&](const char* kind, const char* name, const fs::path& target) {
    const Status status = write_plugin_template(kind, name, target, kBuild);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message("rewrd", "x", folder.path() / "a"),
            "unknown kind of plugin 'rewrd'; did you mean 'reward'?");
  EXPECT_EQ(message("reward", "My-Reward", folder.path() / "a"),
            "name: expected [a-z][a-z0-9_]* of at most 48 characters, found 'My-Reward'");
  EXPECT_EQ(message("reward", "x", "/proc/self"),
            "/proc/self: the folder is not empty; choose a new or empty folder");
  EXPECT_EQ(write_plugin_template("reward", "x", folder.path() / "a", "/nowhere").error().message,
            "no templates: expected them in /nowhere/share/template");
}

TEST(PythonTemplates, Template_IsOneFileAndNeverOverwritten) {
  const test::TemporaryFolder folder;
  for (const std::string& kind : python_template_kinds()) {
    const auto file =
        write_python_template(kind, "my_" + kind + "2", folder.path() / "new", kBuild);
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(*file, folder.path() / "new" / ("my_" + kind + "2.py"));
    EXPECT_NE(read_file(*file)->find("\"\"\"my_" + kind + "2: "), std::string::npos);
    const auto again =
        write_python_template(kind, "my_" + kind + "2", folder.path() / "new", kBuild);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().message,
              file->string() + ": the file exists; choose another name or folder");
  }
  EXPECT_EQ(write_python_template("backend", "x", folder.path(), kBuild).error().message,
            "unknown kind of plugin 'backend'; valid: reward, dataset, environment");
}

/// The fenced block of docs/plugins.md that starts with the file's first line.
TEST(PluginDocs, Docs_ShowTheTemplate) {
  const std::string page = read_file(test::source_dir() / "docs/plugins.md").value();
  const std::string source = read_file(test::source_dir() / "plugins/template/reward.cpp").value();
  EXPECT_NE(page.find("```cpp\n" + source + "```\n"), std::string::npos)
      << "docs/plugins.md shows another reward.cpp than plugins/template";
  const std::string python = read_file(test::source_dir() / "plugins/template/reward.py").value();
  EXPECT_NE(page.find("```python\n" + python + "```\n"), std::string::npos)
      << "docs/plugins.md shows another reward.py than plugins/template";
}

#ifdef HONE_PROGRAM
/// The commands of the page, run as they stand.
TEST(PluginDocs, Commands_BuildAValidPlugin) {
  const std::string page = read_file(test::source_dir() / "docs/plugins.md").value();
  const std::string fence = "```sh\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const std::string commands = page.substr(begin, page.find("```", begin) - begin);
  ASSERT_NE(commands.find("hone new reward my_first\n"), std::string::npos);
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "commands.sh", commands).ok());
  const std::string command = "cd '" + folder.path().string() + "' && PATH='" +
                              fs::path(HONE_PROGRAM).parent_path().string() +
                              "':\"$PATH\" sh -ex commands.sh > log.txt 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() / "log.txt").value();
  EXPECT_TRUE(fs::exists(folder.path() / "my_first/build/my_first.so"));
}
#endif

}  // namespace
}  // namespace hone
