// fast_p, medians and pass@k of small runs that can be counted by hand, and KernelBench's words.
#include "integrations/kernelbench/fast_p.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "integrations/kernelbench/run_arguments.hpp"

namespace hone {
namespace {

struct Said {
  std::int64_t problem;
  bool correct;
  std::optional<double> speedup;
  std::int64_t sample = 0;
};

EvalResults results_of(const std::vector<Said>& all) {
  auto results = EvalResults::read("/nonexistent/eval_results.json");
  for (const Said& one : all) {
    Verdict verdict;
    verdict.outcome = one.correct ? Outcome::kCorrect : Outcome::kWrong;
    verdict.stage = one.correct ? VerdictStage::kDone : VerdictStage::kCheck;
    if (one.speedup) {
      verdict.speedup.emplace();
      verdict.speedup->value = *one.speedup;
      verdict.speedup->time_us = 1000;
    }
    results->put({one.problem, one.sample, {}}, "hash", verdict);
  }
  return std::move(*results);
}

const std::vector<Problem> kFour = {{1, "1_A", "k/level1/1"},
                                    {2, "2_B", "k/level1/2"},
                                    {3, "3_C", "k/level1/3"},
                                    {4, "4_D", "k/level1/4"}};

Share share_at(const Analysis& analysis, double p) {
  for (const auto& [threshold, share] : analysis.fast_p) {
    if (threshold == p) return share;
  }
  ADD_FAILURE() << p;
  return {};
}

TEST(FastP, ProblemWithoutAResult_CountsInTheDenominator) {
  const auto results = results_of({{1, true, 1.0}, {2, true, 2.5}, {3, false, {}}});
  const Analysis analysis = analyse({}, kFour, results, {});
  EXPECT_EQ(analysis.evaluated, 3u);
  EXPECT_EQ(analysis.compiled, 3u);
  EXPECT_EQ(analysis.correct, 2u);
  for (const auto& [p, expected] : std::map<double, double>{
           {0.0, 0.5}, {0.5, 0.5}, {0.8, 0.5}, {1.0, 0.25}, {1.5, 0.25}, {2.0, 0.25}}) {
    EXPECT_TRUE(share_at(analysis, p).known()) << p;
    EXPECT_EQ(share_at(analysis, p).at_least, expected) << p << ": more than p, not as much";
  }
  EXPECT_EQ(analysis.median, 1.75);
  EXPECT_NEAR(*analysis.geometric_mean, 1.5811388, 1e-6);
  EXPECT_TRUE(analysis.pass_at_k.empty()) << "one sample each";
}

TEST(FastP, UnknownSpeed_MakesItUnknown) {
  const auto results = results_of({{1, true, {}}, {2, true, 2.5}, {3, false, {}}});
  const Analysis analysis = analyse({}, kFour, results, {});
  EXPECT_TRUE(share_at(analysis, 0).known());
  EXPECT_FALSE(share_at(analysis, 1).known());
  EXPECT_EQ(share_at(analysis, 1).at_least, 0.25);
  EXPECT_EQ(share_at(analysis, 1).at_most, 0.5);
  const Value told = to_value(analysis);
  EXPECT_TRUE(told.find("fast_p")->find("1.0")->is_nil());
  EXPECT_EQ(told.find("fast_p")->find("0.0")->as_double(), 0.5);
  EXPECT_EQ(told.find("not_measured")->as_int(), 1);
  EXPECT_EQ(told.find("compilation_rate")->as_double(), 0.75);
  EXPECT_EQ(told.find("correctness_rate")->as_double(), 0.5);
  const Analysis none = analyse({}, kFour, results_of({{3, false, {}}}), {});
  EXPECT_TRUE(share_at(none, 2).known()) << "nothing correct: nothing fast";
  EXPECT_FALSE(none.median);
}

TEST(FastP, ProblemNotJudged_MakesItUnknown) {
  const Analysis analysis = analyse({}, kFour, results_of({{1, true, 3.0}}), {2});
  EXPECT_EQ(analysis.not_judged, 1u);
  EXPECT_FALSE(share_at(analysis, 0).known());
  EXPECT_EQ(share_at(analysis, 0).at_most, 0.5);
}

TEST(FastP, FastP_UsesSampleZeroAndPassAtKAllSamples) {
  const auto results =
      results_of({{1, false, {}, 0}, {1, true, 2.0, 1}, {2, true, 2.0, 0}, {2, true, 2.0, 1}});
  const Analysis analysis = analyse({}, kFour, results, {});
  EXPECT_EQ(analysis.correct, 1u);
  EXPECT_EQ(analysis.pass_at_k, (std::map<std::int64_t, PassAtK>{{1, {0.75, 2}}, {2, {1.0, 2}}}));
  const Analysis asked = analyse({.ks = {2, 5}}, kFour, results, {});
  EXPECT_EQ(asked.pass_at_k, (std::map<std::int64_t, PassAtK>{{2, {1.0, 2}}}))
      << "nothing has five";
}

TEST(FastP, BaselineTimes_ReplaceSpeedups) {
  auto scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok());
  const auto file = scratch->path() / "baseline.json";
  ASSERT_TRUE(
      write_file(file, R"({"level1": {"1_A.py": {"mean": 4.0, "std": 1}, "2_B": {"mean": 0.5}}})")
          .ok());
  auto baseline = read_baseline(file, 1);
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  const auto results =
      results_of({{1, true, 9.0}, {2, true, {}}, {3, true, 9.0}});  // 1 ms, unknown, 1 ms
  const Analysis analysis = analyse({.baseline_ms = *baseline}, kFour, results, {});
  EXPECT_EQ(analysis.median, 4.0);
  EXPECT_EQ(analysis.unmeasured, 2u) << "one without a time, one that the baseline lacks";
  EXPECT_EQ(
      read_baseline(file, 2).error().message,
      file.string() + ": found no object 'level2', expected one with a time for each problem");
  ASSERT_TRUE(write_file(file, R"({"level1": {"1_A.py": {}}})").ok());
  EXPECT_EQ(read_baseline(file, 1).error().message,
            file.string() + ": level1/1_A.py: found no time, expected a 'mean' in ms");
}

TEST(RunArguments, KernelBenchsSyntax_IsRead) {
  RunArguments words(
      {"level=1", "subset=(3, 5)", "problem_ids=[7,8]", "max_tokens=None", "gpu_arch=Ada"}, "eval");
  EXPECT_EQ(words.integer("level", 0), 1);
  EXPECT_EQ(words.integers("subset"), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(words.integers("problem_ids"), (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(words.integer("max_tokens", 9), 9);
  EXPECT_EQ(words.without_effect(), std::vector<std::string>{"gpu_arch"});
  EXPECT_TRUE(words.finish().ok());
  EXPECT_TRUE(RunArguments({"subset=(None, None)"}, "eval").integers("subset").empty());
}

TEST(RunArguments, Mistakes_AreReported) {
  const auto said = [](const std::vector<std::string>& given) {
    RunArguments words(given, "eval");
    (void)words.integer("level", 0);
    (void)words.integers("subset");
    const Status good = words.finish();
    return good ? std::string() : good.error().message;
  };
  EXPECT_EQ(said({"levle=1"}), "eval: unknown word 'levle'; did you mean 'level'?");
  EXPECT_EQ(said({"level=one"}), "eval: level: found 'one', expected a number");
  EXPECT_EQ(said({"level"}), "eval: found 'level', expected NAME=VALUE, such as level=1");
  EXPECT_EQ(said({"level=1", "level=2"}), "eval: found level twice");
  EXPECT_EQ(said({"subset=1,b"}), "eval: subset: found 'b', expected numbers such as 1,5,10");
  EXPECT_EQ(parse_thresholds("2, 0.5,0.5").value(), (std::vector<double>{0.5, 2}));
  for (const char* text : {"", "a", "-1", "inf", "1e999"})
    EXPECT_FALSE(parse_thresholds(text).ok()) << text;
}

TEST(RunArguments, Level_IsReadFromATaskId) {
  EXPECT_EQ(parse_level("kernelbench/level2"),
            std::pair(std::string("kernelbench"), std::int64_t{2}));
  EXPECT_EQ(parse_level("level1"), std::pair(std::string(), std::int64_t{1}));
  for (const char* text : {"kernelbench/level1/19", "level", "levelx", "add_relu", "level0"}) {
    EXPECT_FALSE(parse_level(text)) << text;
  }
}

}  // namespace
}  // namespace hone
