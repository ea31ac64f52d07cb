// Cheating submissions that are recorded with torch for CUDA, in a sandbox without a device. HONE_RECORD_PYTHON names an interpreter
// that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "evaluate/build_pool.hpp"
#include "evaluate/sources.hpp"
#include "hone/recorded_plan_reader.hpp"
#include "modules/device_case.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

const fs::path kRecordings = test::source_dir() / "tests/adversarial/recordings";

/// A submission, and why it has no plan, or what its plan does.
struct RecordingAttack {
  std::string name;
  std::string problem = {};  ///< empty: it has a plan
  bool computes = true;      ///< its plan has the layer's product of matrices
};
std::ostream& operator<<(std::ostream& out, const RecordingAttack& attack) {
  return out << attack.name;
}

const std::vector<RecordingAttack> kRecordingAttacks = {
    {"read_a_value", "a value was read back (submission.py:"},
    {"compute_on_the_cpu", "a value was read back (submission.py:"},
    {"ask_the_time", "a time was asked for"},
    {"draw_random_numbers", "two calls do different work"},
    {"use_the_clock", "two calls do different work"},
    {"count_its_calls", "two calls do different work"},
    {"work_less_from_the_fourth_call"},
    {"keep_its_outputs", "keeps state made from an input or a parameter between calls"},
    {.name = "guess_the_seed", .computes = false},
    {.name = "know_that_it_is_recorded", .computes = false},
    {"replace_the_plan", "its plan cannot be used: recorded plan: "},
    {"replace_the_digest"},
    {"begin_the_run_late", "keeps state made from an input or a parameter between calls"},
    {"forget_a_problem", "it failed: "},
    {"call_a_solver", "it failed: "},
    {.name = "return_its_input", .computes = false},
    {"capture_a_graph", "uses stream capture"},
    {.name = "work_in_a_thread", .computes = false},
};

/// The recording of a submission for the layer "linear", as hone makes it.
Result<std::shared_ptr<const Built>> recorded_with_torch(const std::string& source) {
  static const auto options = [] {
    EvaluatorOptions made = device_options();
    made.module_place = "device";
    made.modules = "auto";
    const Status python = use_interpreter("cuda.python", std::getenv("HONE_RECORD_PYTHON"), made);
    EXPECT_TRUE(python) << python.error().message;
    return made;
  }();
  static const auto launcher = std::move(Launcher::start({})).value();
  static Zygotes* const zygotes = *shared_zygotes(options, {});
  static BuildPool builds(*launcher, options, zygotes);
  static const Status device = builds.use_device(Value::map({{"architecture", "sm_90a"}}));
  HONE_TRY(device);
  HONE_ASSIGN(const Task task, module_task("linear"));
  HONE_ASSIGN(PlannedSource planned, planned_submission(task, "python", source, options));
  planned.build.record = true;
  return builds.build(planned.build);
}

bool multiplies(const recorded::Plan& plan) {
  return std::any_of(plan.run.begin(), plan.run.end(), [](const recorded::Step& step) {
    const auto* call = std::get_if<recorded::Operator>(&step.work);
    return call != nullptr && call->name.find("mm") != std::string::npos;
  });
}

class RecordingAttacks : public testing::TestWithParam<RecordingAttack> {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_RECORD_PYTHON") == nullptr)
      GTEST_SKIP() << "HONE_RECORD_PYTHON names no interpreter with a torch for CUDA";
  }
};
TEST_P(RecordingAttacks, Attack_IsNotRecordedOrItsPlanHoldsTheExpectedWork) {
  const auto built = recorded_with_torch(text_of_file(kRecordings / (GetParam().name + ".py")));
  ASSERT_TRUE(built) << built.error().message;
  const std::string& problem = (*built)->not_recorded;
  EXPECT_THAT(problem, HasSubstr(GetParam().problem));
  ASSERT_EQ((*built)->plan == nullptr, !GetParam().problem.empty()) << problem;
  if ((*built)->plan == nullptr) return;
  EXPECT_EQ(multiplies(recorded::read_plan((*built)->plan->bytes.joined())), GetParam().computes);
}
std::string recording_name_of(const testing::TestParamInfo<RecordingAttack>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Recordings, RecordingAttacks, testing::ValuesIn(kRecordingAttacks),
                         recording_name_of);

TEST(RecordingTable, EachFile_IsInTheTableAndDocumented) {
  const std::string page = text_of_file(test::source_dir() / "docs/threats-modules.md");
  std::set<std::string> files, named;
  for (const auto& entry : fs::directory_iterator(kRecordings))
    files.insert(entry.path().stem().string());
  for (const RecordingAttack& one : kRecordingAttacks) {
    named.insert(one.name);
    EXPECT_THAT(page, HasSubstr("`" + one.name + "`")) << "docs/threats-modules.md";
  }
  EXPECT_EQ(files, named);
}

}  // namespace
}  // namespace hone::test
