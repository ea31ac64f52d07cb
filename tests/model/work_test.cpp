// Work: read from what a submission's own process says, and put into words.
#include "model/work.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Work, IsReadFromJson) {
  const auto work = work_from_json(R"({"kernels":{"leaky":2},"operators":{"aten.mm":1}})");
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(work->kernels.at("leaky"), 2);
  EXPECT_EQ(work->operators.at("aten.mm"), 1);
  EXPECT_FALSE(work->torch_alone());
  const auto again = work_from_value(work_to_value(*work));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kernels, work->kernels);
  EXPECT_EQ(again->operators, work->operators);
  EXPECT_FALSE(again->kernels_us || again->operators_us);
}

TEST(Work, MayHaveTheDevicesTime) {
  const auto work = work_from_json(
      R"({"kernels":{"leaky":2},"operators":{},"kernels_us":12.5,"operators_us":0})");
  ASSERT_TRUE(work) << work.error().message;
  const auto again = work_from_value(work_to_value(*work));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kernels_us, 12.5);
  EXPECT_EQ(again->operators_us, 0.0);
}

TEST(Work, IsTorchsAloneWhereOperatorsRanAndNoKernel) {
  EXPECT_TRUE(work_from_json(R"({"kernels":{},"operators":{"aten.mm":1}})")->torch_alone());
  EXPECT_FALSE(work_from_json(R"({"kernels":{},"operators":{}})")->torch_alone());
}

TEST(Work, MayHaveASecondWitness) {
  Work work{{{{"leaky", 1}}, {{"aten.mm", 1}}}};
  EXPECT_FALSE(work.agrees());
  EXPECT_TRUE(work_to_value(work).find("agrees")->is_nil());
  work.rehearsed = Witnessed{{{"leaky", 3}}, {{"aten.mm", 1}}};
  EXPECT_EQ(work.agrees(), true);
  work.rehearsed->kernels.clear();
  EXPECT_TRUE(work.rehearsed->torch_alone());
  EXPECT_EQ(work.agrees(), false);
  const auto again = work_from_value(work_to_value(work));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->rehearsed);
  EXPECT_EQ(again->rehearsed->operators, work.rehearsed->operators);
  EXPECT_EQ(again->agrees(), false);
}

TEST(Work, OfASubmissionsWordsHasNoSecondWitness) {
  const auto work = work_from_json(
      R"({"kernels":{"a":1},"operators":{},"rehearsed":{"kernels":{"a":1},"operators":{}}})");
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_FALSE(work->rehearsed);
}

TEST(Work, OfNoForm) {
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

TEST(Work, IsSaidByItsMostFrequentOperators) {
  Work work;
  work.operators = {{"aten.mm", 2}, {"aten.add", 3}};
  EXPECT_EQ(operator_words(work), "aten.add, aten.mm");
  work.operators.insert({{"aten.t", 1}, {"aten.view", 1}});
  EXPECT_EQ(operator_words(work), "aten.add, aten.mm, aten.t and 1 others");
}

}  // namespace
}  // namespace hone
