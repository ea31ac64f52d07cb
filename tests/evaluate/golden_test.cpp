// Every golden submission of every CPU task has the outcome in its first line. Speed is not asserted; `hone bench`
// measures it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/shared_machine.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> goldens() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(test::tasks_dir())) {
    const bool on_host = entry.path().extension() != ".cu";
    if (on_host && entry.path().parent_path().filename() == "golden") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
  std::string name =
      info.param.parent_path().parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, GoldenSubmission_HasItsExpectedOutcome) {
  auto source = read_file(GetParam());
  ASSERT_TRUE(source);
  const std::string first = source->substr(0, source->find('\n'));
  const std::string task = GetParam().parent_path().parent_path().filename().string();
  const std::string language = GetParam().extension() == ".c" ? "c" : "c++";
  auto verdict = test::judge(task, *source, 20261121, language);
  ASSERT_TRUE(verdict) << verdict.error().message;
  const std::string expected = "// expect: " + std::string(outcome_name(verdict->outcome));
  EXPECT_EQ(first.substr(0, expected.size()), expected) << verdict->reason << "\n"
                                                        << verdict->diagnostics;
}

INSTANTIATE_TEST_SUITE_P(Tasks, Golden, testing::ValuesIn(goldens()), name_of);

}  // namespace
}  // namespace hone
