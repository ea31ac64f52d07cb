// Libraries that are plugins, and every way in which a library is not a valid plugin.
#include "plugin/plugin_library.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "hone/reward.h"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

using test::fixture;

Error refusal(const std::filesystem::path& path) {
  const auto library = PluginLibrary::load(path);
  EXPECT_FALSE(library.ok());
  return library ? Error{} : library.error();
}

TEST(PluginLibrary, ValidLibrary_IsLoaded) {
  const PluginLibrary library = test::load(fixture("good"));
  EXPECT_EQ(library.name(), "good");
  EXPECT_EQ(library.version(), "1.2.3");
  EXPECT_EQ(library.factories(), std::vector<std::string>{"hone.reward/1"});
  EXPECT_EQ(library.factory("hone.dataset/1").error().message, "good.so: offers no hone.dataset/1");
}

TEST(PluginLibrary, RelativePath_IsMadeAbsolute) {
  const auto relative = std::filesystem::relative(fixture("good"));
  EXPECT_EQ(test::load(relative).path(), fixture("good"));
}

struct Refused {
  const char* fixture;
  const char* message;
};
class PluginLibraryRefuses : public testing::TestWithParam<Refused> {};

TEST_P(PluginLibraryRefuses, BrokenLibrary_ErrorHasFoundAndExpected) {
  const Error error = refusal(fixture(GetParam().fixture));
  EXPECT_EQ(error.message, GetParam().message);
  EXPECT_EQ(error.code, Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, PluginLibraryRefuses,
    testing::Values(
        Refused{"future_abi", "future_abi.so: plugin ABI 99.0, host ABI 1.0"},
        Refused{"newer_minor", "newer_minor.so: plugin ABI 1.1, host ABI 1.0"},
        Refused{"lies_about_size", "lies_about_size.so: entry of 16 bytes, expected at least 40"},
        Refused{"claims_too_much", "claims_too_much.so: entry claims 4096 bytes, found 40"},
        Refused{"bad_name", "bad_name.so: entry's name is 'Bad Name', expected [a-z0-9_]+"},
        Refused{"no_get_factory", "no_get_factory.so: entry's get_factory is null"},
        Refused{"no_entry",
                "no_entry.so: exports no hone_plugin_entry, so it is not a hone plugin"}),
    [](const auto& parameter) { return std::string(parameter.param.fixture); });

TEST(PluginLibrary, LinkerMessage_IsReportedOnce) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "text.so";
  std::ofstream(path) << "this is no library at all";
  EXPECT_EQ(refusal(path).message, "text.so: cannot load: file too short");
}

TEST(PluginLibrary, MissingFile_IsReported) {
  const Error error = refusal("/nowhere/x.so");
  EXPECT_EQ(error.message, "x.so: no such file: /nowhere/x.so");
  EXPECT_EQ(error.code, Code::kNotFound);
}

}  // namespace
}  // namespace hone
