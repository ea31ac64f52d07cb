// `hone validate` for valid plugins, and for fixtures that each break one rule.
#include "conformance/validate.hpp"

#include <gtest/gtest.h>

#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

using test::fixture;

ValidationReport validate(const std::filesystem::path& plugin,
                          const CheckProcessOptions& options = {}) {
  const std::filesystem::path driver = test::build_dir() / "tests/hone_validate_test_driver";
  auto report = validate_plugin(plugin, driver, options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return std::move(report).value();
}

/// "failed: message", or "no such check".
std::string result(const ValidationReport& report, std::string_view id) {
  for (const ValidatedCheck& check : report.checks) {
    if (check.id != id) continue;
    const std::string name(check_outcome_name(check.result.outcome));
    return check.result.message.empty() ? name : name + ": " + check.result.message;
  }
  return "no such check";
}

void expect_all_passed(const ValidationReport& report) {
  EXPECT_TRUE(report.ok());
  for (const ValidatedCheck& check : report.checks) {
    EXPECT_EQ(check.result.outcome, CheckOutcome::kPassed)
        << check.id << ": " << check.result.message;
  }
}

class ValidateShipped : public testing::TestWithParam<std::string> {};
TEST_P(ValidateShipped, ShippedReward_PassesEveryCheck) {
  const ValidationReport report = validate(test::shipped_reward(GetParam()));
  EXPECT_EQ(report.name, GetParam());
  EXPECT_EQ(report.checks.size(), 15u);
  expect_all_passed(report);
}
INSTANTIATE_TEST_SUITE_P(Rewards, ValidateShipped, testing::ValuesIn(test::shipped_rewards()));

TEST(Validate, GoodPlugins_PassEveryCheck) {
  expect_all_passed(validate(fixture("good")));
  const ValidationReport dataset = validate(fixture("dataset_good"));
  expect_all_passed(dataset);
  EXPECT_EQ(result(dataset, "dataset.get"), "passed: 1 tasks");
}

TEST(Validate, ShippedDataset_PassesWithAndWithoutAPath) {
  const std::filesystem::path plugins = test::build_dir() / "plugins";
  CheckProcessOptions options;
  const ValidationReport bare = validate(plugins / "datasets/tasks.so", options);
  EXPECT_TRUE(bare.ok());
  EXPECT_EQ(result(bare, "dataset.get"), "skipped: needs a configuration with: path");
  options.config_json =
      to_json(Value::map({{"path", (test::source_dir() / "envs/kernel_refine/tasks").string()}}));
  expect_all_passed(validate(plugins / "datasets/tasks.so", options));
}

TEST(Validate, CpuBackend_PassesTheBackendChecks) {
  const ValidationReport report = validate(test::build_dir() / "plugins/backends/cpu.so");
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(result(report, "backend.table"), "passed");
  EXPECT_EQ(result(report, "backend.describe"), "passed");
  EXPECT_EQ(result(report, "backend.release_null"), "passed");
}

TEST(Validate, Configuration_ReachesThePlugin) {
  CheckProcessOptions options;
  options.config_json = R"({"broken": true})";
  const ValidationReport report = validate(fixture("dataset_good"), options);
  EXPECT_EQ(result(report, "dataset.get"),
            "failed: dataset_good: get: copy: task: entry: 'no identifier' is not a C identifier");
  options.config_json = "[1]";
  const auto refused = validate_plugin(fixture("dataset_good"), "/proc/self/exe", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "configuration: expected a json object, found array");
}

TEST(Validate, Crash_IsReportedWithItsSignal) {
  const ValidationReport in_create = validate(fixture("crashes_in_create"));
  EXPECT_FALSE(in_create.ok());
  EXPECT_EQ(result(in_create, "reward.describe"), "passed");
  EXPECT_EQ(result(in_create, "reward.create"), "crashed: signal SIGSEGV");
  const ValidationReport in_score = validate(fixture("crashes_in_score"));
  EXPECT_EQ(result(in_score, "reward.create"), "passed");
  EXPECT_EQ(result(in_score, "reward.score"), "crashed: signal SIGSEGV");
  EXPECT_EQ(result(in_score, "reward.destroy_null"), "passed");
}

TEST(Validate, Hang_IsTimedOut) {
  CheckProcessOptions options;
  options.timeout_s = 2;
  const ValidationReport report = validate(fixture("hangs"), options);
  EXPECT_EQ(result(report, "reward.score"), "timed_out: no result after 2 s");
  EXPECT_FALSE(report.ok());
}

TEST(Validate, ExitZeroWithoutAReport_Fails) {
  EXPECT_EQ(result(validate(fixture("exits")), "reward.create"),
            "failed: ended the process with status 0 in the middle of the check");
}

TEST(Validate, BrokenEntry_FailsItsCheck) {
  const ValidationReport future = validate(fixture("future_abi"));
  EXPECT_EQ(result(future, "loads"), "passed");
  EXPECT_EQ(result(future, "entry"), "failed: future_abi.so: plugin ABI 99.0, host ABI 1.0");
  EXPECT_EQ(result(future, "factories"), "skipped: after entry");
  EXPECT_EQ(future.checks.size(), 4u);
  EXPECT_EQ(
      result(validate(fixture("null_factory")), "factories"),
      "failed: null_factory.so: offers none of hone.reward/1, hone.dataset/1, hone.backend/0");
  EXPECT_EQ(
      result(validate(fixture("any_factory")), "unknown_factories"),
      "failed: any_factory.so: get_factory(\"hone.reward/10\"): expected null, found a table");
  EXPECT_EQ(result(validate(fixture("missing_describe")), "reward.describe"),
            "failed: missing_describe.so: function describe is null");
}

TEST(Validate, BrokenReward_FailsItsCheck) {
  EXPECT_EQ(result(validate(fixture("throws")), "reward.score"),
            "failed: sample 0: throws: score: threw across the ABI: thrown on purpose");
  EXPECT_EQ(result(validate(fixture("garbage_output")), "reward.score"),
            "failed: sample 0: garbage_output: score: wrote messagepack: broken at byte 0");
  const ValidationReport forgetful = validate(fixture("forgetful"));
  EXPECT_EQ(result(forgetful, "reward.unknown_key"),
            "failed: a key 'weightx': expected an error, found success");
  EXPECT_EQ(result(forgetful, "reward.wrong_type"),
            "failed: a list for 'weight': expected an error, found success");
  EXPECT_EQ(result(forgetful, "reward.garbage_config"),
            "failed: create: expected an error for garbage: 1 bytes were accepted");
  EXPECT_EQ(result(forgetful, "reward.score"),
            "failed: sample 9: expected a reward from 0.000000 to 10.000000, found 11.000000");
  EXPECT_EQ(result(forgetful, "reward.pure"),
            "failed: sample 0: expected the same bytes, found others the second time");
  EXPECT_EQ(result(forgetful, "reward.threads").substr(0, 63),
            "failed: two threads: expected the same answers as one thread, f");
}

TEST(Validate, MissingFile_IsReported) {
  const auto report = validate_plugin("/nowhere/x.so", "/proc/self/exe");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message, "no such file: /nowhere/x.so");
}

}  // namespace
}  // namespace hone
