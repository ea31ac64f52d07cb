// The enum names of the judge protocol: each converts back to its value, and unknown names are refused.
#include <gtest/gtest.h>

#include <set>

#include "judge_protocol/messages.hpp"

namespace hone {
namespace {

template <typename Enum>
class EnumOfTheProtocol : public testing::Test {};
using Enums = testing::Types<Ending, Culprit, Place, Form, TrustedRole, JudgeStage, ExtensionKind>;
TYPED_TEST_SUITE(EnumOfTheProtocol, Enums);

TYPED_TEST(EnumOfTheProtocol, Names_AreUniqueAndComeBack) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::size(EnumNames<TypeParam>::kNames); ++i) {
    const auto value = static_cast<TypeParam>(i);
    const std::string name(enum_name(value));
    const auto parsed = parse_enum<TypeParam>(name);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, value) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_FALSE(parse_enum<TypeParam>(""));
  EXPECT_FALSE(parse_enum<TypeParam>(*names.begin() + "s"));
}

TEST(JudgeProtocolNames, UnknownName_IsRefusedWithTheExpectedOnes) {
  const auto refused = parse_enum<Culprit>("the submission");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "culprit: found 'the submission', expected one of none, submission, baseline, "
            "reference, kept process");
}

}  // namespace
}  // namespace hone
