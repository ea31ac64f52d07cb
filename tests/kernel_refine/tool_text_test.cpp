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
    const Value facts = Value::map(
        {{"time_us", 1.0}, {"baseline_us", 2.0}, {"speedup", 2.0}, {"left_out", left_out}});
    EXPECT_THAT(facts_text(tool, facts),
                HasSubstr("- Left out: code after the first 20000 functions\n"));
  }
}

TEST(ToolText, Profile_HasTheIntervalAndTheFlagsOfItsSpeedup) {
  const Value facts = Value::map({{"time_us", 10.0},
                                  {"baseline_us", 22.0},
                                  {"speedup", 2.0},
                                  {"interval", Value::array({1.9, 2.125})},
                                  {"flags", Value::array({"noisy"})}});
  EXPECT_THAT(facts_text(Tool::kProfile, facts),
              HasSubstr(": 2.00× (95 % interval 1.90× to 2.12×; noisy).\n"));
}

TEST(ToolText, HardwareOfAProcessor_NamesTheRatesOfOneCore) {
  Value facts = Value::map({{"name", "a processor"},
                            {"clock_hz", 3e9},
                            {"dram_bytes_per_second", 20e9},
                            {"flops_per_second_max", Value::map({{"f32", 96e9}})}});
  const std::string text = facts_text(Tool::kHardware, facts);
  EXPECT_THAT(text, HasSubstr("Memory bandwidth of one core (GB/s): 20\n"));
  EXPECT_THAT(text, HasSubstr("Single-precision arithmetic of one core (GFLOP/s): 96\n"));
  facts.set("clock_hz", Value());
  EXPECT_THAT(facts_text(Tool::kHardware, facts), HasSubstr("Memory bandwidth (GB/s): 20\n"));
}

}  // namespace
}  // namespace hone::kernel_refine
