// Work: reading the report of a submission's process, and its text form.
#include "model/work.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Work, JsonReport_IsReadAndRoundTrips) {
  const auto work = work_from_json(R"({"kernels":{"leaky":2},"operators":{"aten.mm":1}})");
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(work->kernels.at("leaky"), 2);
  EXPECT_EQ(work->operators.at("aten.mm"), 1);
  EXPECT_FALSE(work->only_torch());
  const auto again = work_from_value(work_to_value(*work));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kernels, work->kernels);
  EXPECT_EQ(again->operators, work->operators);
  EXPECT_FALSE(again->kernels_us || again->operators_us);
}

TEST(Work, DeviceTimes_RoundTrip) {
  const auto work = work_from_json(
      R"({"kernels":{"leaky":2},"operators":{},"kernels_us":12.5,"operators_us":0})");
  ASSERT_TRUE(work) << work.error().message;
  const auto again = work_from_value(work_to_value(*work));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kernels_us, 12.5);
  EXPECT_EQ(again->operators_us, 0.0);
}

TEST(Work, OperatorsWithoutKernels_AreOnlyTorch) {
  EXPECT_TRUE(work_from_json(R"({"kernels":{},"operators":{"aten.mm":1}})")->only_torch());
  EXPECT_FALSE(work_from_json(R"({"kernels":{},"operators":{}})")->only_torch());
}

TEST(Work, DryRun_IsCompared) {
  Work work{{{{"leaky", 1}}, {{"aten.mm", 1}}}};
  EXPECT_FALSE(work.agrees());
  EXPECT_TRUE(work_to_value(work).find("agrees")->is_nil());
  work.dry_run = Witnessed{{{"leaky", 3}}, {{"aten.mm", 1}}};
  EXPECT_EQ(work.agrees(), true);
  work.dry_run->kernels.clear();
  EXPECT_TRUE(work.dry_run->only_torch());
  EXPECT_EQ(work.agrees(), false);
  const auto again = work_from_value(work_to_value(work));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->dry_run);
  EXPECT_EQ(again->dry_run->operators, work.dry_run->operators);
  EXPECT_EQ(again->agrees(), false);
}

TEST(Work, SubmissionsReport_CannotSetTheDryRun) {
  const auto work = work_from_json(
      R"({"kernels":{"a":1},"operators":{},"rehearsed":{"kernels":{"a":1},"operators":{}}})");
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_FALSE(work->dry_run);
}

TEST(Work, MalformedReport_IsRefused) {
  std::string many = R"({"operators":{},"kernels":{"k":1)";
  for (int i = 0; i < 64; ++i) many += ",\"k" + std::to_string(i) + "\":1";
  for (const std::string words :
       {"", "[]", "{", R"({"kernels":{}})", R"({"kernels":[],"operators":{}})",
        R"({"kernels":{"a b":1},"operators":{}})", R"({"kernels":{"a\n":1},"operators":{}})",
        R"({"kernels":{"":1},"operators":{}})", R"({"kernels":{"k":0},"operators":{}})",
        R"({"kernels":{"k":-1},"operators":{}})", R"({"kernels":{"k":"1"},"operators":{}})",
        R"({"kernels":{"k":1.5},"operators":{}})",
        R"({"kernels":{},"operators":{},"kernels_us":-1})",
        R"({"kernels":{},"operators":{},"operators_us":1e300})",
        R"({"kernels":{},"operators":{},"kernels_us":"1"})",
        R"({"kernels":{},"operators":{},"rehearsed":{"kernels":{}}})"})
    EXPECT_FALSE(work_from_json(words)) << words;
  EXPECT_FALSE(work_from_json(many + "}}"));
  EXPECT_FALSE(work_from_json(R"({"operators":{},"kernels":{")" + std::string(65, 'k') + "\":1}}"));
}

TEST(Work, Text_HasTheMostFrequentOperators) {
  Work work;
  work.operators = {{"aten.mm", 2}, {"aten.add", 3}};
  EXPECT_EQ(operator_words(work), "aten.add, aten.mm");
  work.operators.insert({{"aten.t", 1}, {"aten.view", 1}});
  EXPECT_EQ(operator_words(work), "aten.add, aten.mm, aten.t and 1 others");
}

}  // namespace
}  // namespace hone
