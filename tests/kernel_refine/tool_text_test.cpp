// The text that a model gets for the facts of a tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_refine/tools.hpp"

namespace hone::kernel_refine {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ToolText, SanitizedProgramWithoutACore_IsNotBlamed) {
  const Value facts = Value::map({{"findings", Value::array()},
                                  {"status", 137},
                                  {"calls", 2},
                                  {"finished", false},
                                  {"timed_out", false},
                                  {"starved", true},
                                  {"last_call", "n=1"}});
  const std::string text = facts_text(Tool::kSanitize, facts);
  EXPECT_THAT(text, HasSubstr("other work used its core"));
  EXPECT_THAT(text, Not(HasSubstr("Check that its loops end")));
}

TEST(ToolText, PartsThatAReportLeftOut_AreNamed) {
  const Value left_out = Value::array({"code after the first 20000 functions"});
  for (const Tool tool : {Tool::kCompile, Tool::kDisassemble, Tool::kProfile}) {
    const Value facts =
        Value::map({{"time_us", 1.0}, {"baseline_us", 2.0}, {"left_out", left_out}});
    EXPECT_THAT(facts_text(tool, facts),
                HasSubstr("- Left out: code after the first 20000 functions\n"));
  }
}

}  // namespace
}  // namespace hone::kernel_refine
