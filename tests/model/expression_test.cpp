// Expressions over dimensions, and mistakes with their column.
#include "model/expression.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

const Dims kDims{{"n", 1000}, {"m", 3}};

std::string mistake(std::string_view text) {
  auto value = evaluate_expression(text, kDims);
  return value ? std::to_string(*value) : value.error().message;
}

TEST(Expression, ValidExpression_IsEvaluated) {
  EXPECT_EQ(mistake("n*4 + 1"), "4001");
  EXPECT_EQ(mistake("(n + 255) / 256"), "4");
  EXPECT_EQ(mistake("ceil_div(n, 256) * min(m, 2)"), "8");
  EXPECT_EQ(mistake("-n + max(1, m) % 2"), "-999");
}

TEST(Expression, InvalidExpression_ErrorNamesTheColumnAndTheReason) {
  EXPECT_EQ(mistake("n +"), "expression 'n +', column 4: unexpected end");
  EXPECT_EQ(mistake("nn"), "expression 'nn', column 3: unknown name 'nn'; did you mean 'n'?");
  EXPECT_EQ(mistake("n / (m - 3)"), "expression 'n / (m - 3)', column 12: division by zero");
  EXPECT_EQ(mistake("9223372036854775807 + 1"),
            "expression '9223372036854775807 + 1', column 24: overflow");
  EXPECT_EQ(mistake("n $"), "expression 'n $', column 3: unexpected '$'");
  EXPECT_NE(mistake(std::string(100, '(')).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace hone
