// Runs in KernelBench's format: names of generations, and eval_results.json written by KernelBench and by hone.
#include "integrations/kernelbench/run_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "base/utf8.hpp"
#include "integrations/kernelbench/run_lock.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

class RunFolder : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::make();
    ASSERT_TRUE(made.ok());
    scratch_ = std::make_unique<ScratchFolder>(std::move(*made));
    folder_ = scratch_->path();
  }
  void put(const std::string& name, const std::string& text = "") {
    ASSERT_TRUE(write_file(folder_ / name, text).ok());
  }
  std::string mistake(const std::string& text) {
    put("eval_results.json", text);
    const auto read = EvalResults::read(folder_ / "eval_results.json");
    EXPECT_FALSE(read.ok()) << text;
    return read ? "" : read.error().message.substr((folder_ / "eval_results.json").string().size());
  }

  std::unique_ptr<ScratchFolder> scratch_;
  fs::path folder_;
};

Verdict verdict(Outcome outcome, VerdictStage stage) {
  Verdict made;
  made.outcome = outcome;
  made.stage = stage;
  made.reason = "because";
  made.fingerprint = "a machine";
  return made;
}

TEST_F(RunFolder, FilesOfALevel_AreListedAndIgnoredFilesReported) {
  for (const char* name :
       {"level_1_problem_19_sample_1_kernel.py", "level_1_problem_19_sample_0_kernel.py",
        "level_1_problem_2_sample_0_kernel.py", "level_2_problem_1_sample_0_kernel.py",
        "level_1_problem_x_sample_0_kernel.py", "level_1_problem_3_sample_0_kernel.py.bak",
        "level_1_problem_3_sample_-1_kernel.py", "level_1_problem_3_sample_0_prompt.txt",
        "level_1_problem_99999999999_sample_0_kernel.py"}) {
    put(name);
  }
  testing::internal::CaptureStderr();
  const auto found = list_generations(folder_, 1);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(found.ok());
  EXPECT_NE(said.find("3 ignored, expected a name such as level_1_problem_1_sample_0_kernel.py: "
                      "level_1_problem_3_sample_-1_kernel.py, "),
            std::string::npos)
      << said;
  std::vector<std::pair<std::int64_t, std::int64_t>> ids;
  for (const Generation& one : found->of_level) ids.emplace_back(one.problem, one.sample);
  EXPECT_EQ(ids, (std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 0}, {19, 0}, {19, 1}}));
  EXPECT_EQ(found->of_level.at(0).file.filename(), generation_name(1, 2, 0));
  EXPECT_EQ(list_generations(folder_, 3).error().message,
            folder_.string() +
                ": found no generation of level 3, only of 1, 2; expected files such as "
                "level_3_problem_1_sample_0_kernel.py");
  EXPECT_EQ(list_generations(folder_ / "no", 1).error().code, Code::kNotFound);
}

TEST_F(RunFolder, ForeignResults_AreReadAndPreserved) {
  put("eval_results.json",
      R"({"19": [{"sample_id": 0, "compiled": true, "correctness": true,
                  "metadata": {"hardware": "H", "odd": [1, null]}, "runtime": 0.5,
                  "runtime_stats": {"mean": 0.5}}],
          "2": [{"sample_id": 3, "compiled": true, "correctness": false, "metadata": {},
                 "runtime": -1.0, "runtime_stats": {}}]})");
  auto results = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_NE(results->find(19, 0), nullptr);
  EXPECT_EQ(results->find(19, 0)->runtime_ms, 0.5);
  EXPECT_EQ(results->find(19, 0)->outcome, "correct");
  EXPECT_EQ(results->find(2, 3)->runtime_ms, std::nullopt);
  EXPECT_EQ(results->find(2, 3)->outcome, "wrong");
  EXPECT_EQ(results->find(2, 0), nullptr);
  EXPECT_TRUE(results->has({19, 0, {}}, "any source"))
      << "another program judged it, of an unknown source";

  results->put({2, 0, {}}, "abc", verdict(Outcome::kCrashed, VerdictStage::kCheck));
  ASSERT_TRUE(results->write().ok());
  const auto written = from_json(*read_file(folder_ / "eval_results.json"));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->as_map().front().first, "2") << "in the order of numbers";
  EXPECT_EQ(written->find("2")->as_array().size(), 2u);
  EXPECT_EQ(to_json(*written->find("19")->as_array()[0].find("metadata")->find("odd")), "[1,null]");
}

TEST_F(RunFolder, Verdicts_AreWrittenInKernelBenchsFormat) {
  auto results = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(results.ok());
  Verdict fast = verdict(Outcome::kCorrect, VerdictStage::kDone);
  fast.speedup.emplace();
  fast.speedup->value = 2;
  fast.speedup->time_us = 1500;
  results->put({1, 0, {}}, "one", fast);
  results->put({2, 0, {}}, "two", verdict(Outcome::kBuildFailed, VerdictStage::kBuild));
  results->put({3, 0, {}}, "three", verdict(Outcome::kCrashed, VerdictStage::kLoad));
  results->put({4, 0, {}}, "four", verdict(Outcome::kTimedOut, VerdictStage::kCheck));
  ASSERT_TRUE(results->write().ok());
  const auto again = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->find(1, 0)->runtime_ms, 1.5);
  EXPECT_EQ(again->find(1, 0)->speedup, 2);
  std::vector<bool> compiled;
  for (const SampleResult* one : again->all()) compiled.push_back(one->compiled);
  EXPECT_EQ(compiled, (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(again->find(4, 0)->outcome, "timed_out");
  EXPECT_EQ(again->find(4, 0)->reason, "because");
  EXPECT_TRUE(again->has({4, 0, {}}, "four"));
  EXPECT_FALSE(again->has({4, 0, {}}, "another source"));
  EXPECT_FALSE(again->has({5, 0, {}}, "five"));
}

TEST_F(RunFolder, SecondRun_IsRefusedAndNamesTheFirst) {
  {
    const auto first = RunLock::take(folder_);
    ASSERT_TRUE(first.ok()) << first.error().message;
    const auto second = RunLock::take(folder_);
    ASSERT_FALSE(second.ok());
    const std::string& said = second.error().message;
    EXPECT_TRUE(said.starts_with(folder_.string() + ": in use by process " +
                                 std::to_string(getpid()) + " on "))
        << said;
    EXPECT_NE(said.find("wait for that run, or stop it"), std::string::npos) << said;
  }
  put("eval_results.json.lock", "process 1 on a machine that was ended\n");
  EXPECT_TRUE(RunLock::take(folder_).ok()) << "the lock of an ended process is free";
}

TEST_F(RunFolder, MalformedFile_IsReported) {
  EXPECT_EQ(mistake("[]"), ": found array, expected a JSON object with problems' numbers for keys");
  EXPECT_EQ(mistake(R"({"x": []})"), ": found the key 'x', expected a problem's number");
  EXPECT_EQ(mistake(R"({"1": {}})"), ": 1: found map, expected a list of samples");
}

TEST_F(RunFolder, ContradictoryEntries_AreIgnoredAndPreserved) {
  const auto entry = [](const std::string& rest) { return R"({"sample_id": 0, )" + rest + "}"; };
  const std::string right = R"("compiled": true, "correctness": true, )";
  const auto own = [&](const std::string& words) {
    return entry(right + R"("metadata": {"hone": {)" + words + "}}");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"7", "found no sample_id, expected a sample with one"},
      {entry(R"("compiled": 1, "correctness": true)"), "compiled"},
      {entry(R"("compiled": false, "correctness": true)"),
       "found compiled false and correctness true, which contradict each other"},
      {own(R"("outcome": "wrong")"),
       "found correctness true and hone.outcome \"wrong\", which contradict each other"},
      {entry(
           R"("compiled": true, "correctness": false, "metadata": {"hone": {"outcome": "no_code"}})"),
       "found compiled true and hone.outcome \"no_code\""},
      {own("\"outcome\": \"\\u001b[2Jfine\\n\""), "expected an outcome of hone"},
      {own(R"("speedup": {"value": 1e308})"),
       "found hone.speedup 1e+308, expected a number above 0 and at most 1e9"},
      {own(R"("speedup": {"value": -1})"), "found hone.speedup -1, expected"},
      {own(R"("speedup": {"value": NaN})"), "found hone.speedup \"NaN\", expected"},
      {own(R"("speedup": {"value": Infinity})"), "found hone.speedup \"Infinity\", expected"},
      {entry(right + R"("runtime": NaN)"), "found runtime \"NaN\", expected milliseconds"},
      {entry(right + R"("runtime": -Infinity)"), "found runtime \"-Infinity\", expected"},
      {entry(right + R"("runtime": -2)"), "found runtime -2, expected"},
      {entry(right + R"("runtime": 1e-300)"), "found runtime 1e-300, expected"}};
  const std::string good = R"({"sample_id": 1, "compiled": true, "correctness": true})";
  for (const auto& [text, why] : cases) {
    put("eval_results.json", "{\"19\": [" + text + ", " + good + "]}");
    auto read = EvalResults::read(folder_ / "eval_results.json");
    ASSERT_TRUE(read.ok()) << text << read.error().message;
    ASSERT_EQ(read->refused().size(), 1u) << text;
    const RefusedEntry& refused = read->refused()[0];
    EXPECT_NE(refused.why.find(why), std::string::npos) << refused.why;
    EXPECT_TRUE(refused.why.starts_with((folder_ / "eval_results.json: problem 19").string()));
    EXPECT_EQ(refused.why.find_first_of("\033\n"), std::string::npos);
    EXPECT_EQ(read->all().size(), 1u) << "the other one counts";
    ASSERT_TRUE(read->write().ok());
    EXPECT_EQ(EvalResults::read(folder_ / "eval_results.json")->refused().size(), 1u) << "kept";
    if (!refused.sample) continue;
    read->put({19, 0, {}}, "abc", verdict(Outcome::kWrong, VerdictStage::kCheck));
    EXPECT_TRUE(read->refused()[0].judged);
    ASSERT_TRUE(read->write().ok());
    const auto anew = EvalResults::read(folder_ / "eval_results.json");
    EXPECT_TRUE(anew->refused().empty());
    EXPECT_EQ(anew->all().size(), 2u);
  }
}

TEST_F(RunFolder, RejectedModuleThatWasCompiled_IsReadAsWritten) {
  put("eval_results.json", "{}");
  auto results = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(results.ok()) << results.error().message;
  results->put({19, 0, {}}, "abc", verdict(Outcome::kRejected, VerdictStage::kCheck));
  results->put({19, 1, {}}, "abc", verdict(Outcome::kRejected, VerdictStage::kBuild));
  ASSERT_TRUE(results->write().ok());
  const auto read = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->refused().empty());
  ASSERT_NE(read->find(19, 0), nullptr);
  EXPECT_TRUE(read->find(19, 0)->compiled);
  EXPECT_FALSE(read->find(19, 1)->compiled);
}

TEST_F(RunFolder, ControlCharacters_AreNotPrinted) {
  put("eval_results.json",
      R"({"1": [{"sample_id": 0, "compiled": true, "correctness": false, "metadata": {"hone": {
         "outcome": "wrong", "reason": "a\u001b[31m\nb\u009bc\u202ed\u2028",
         "source_sha256": "\u0007"}}}],
       "2": [{"sample_id": 0, "compiled": false, "correctness": false, "metadata": {"hone": {
         "outcome": "build_failed", "diagnostics": "\u001b]0;x\u0007\nmore"}}}]})");
  const auto read = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->find(1, 0)->reason, "a\ufffd[31m b\ufffdc\ufffdd\ufffd");
  EXPECT_EQ(read->find(1, 0)->source_hash, "\ufffd");
  EXPECT_EQ(read->find(2, 0)->reason, "\ufffd]0;x\ufffd");
  EXPECT_EQ(mistake("{\"\\u001b[2J\": []}"),
            ": found the key '\ufffd[2J', expected a problem's number");
  EXPECT_EQ(printable("grün \xff× 漢字\t\x7f"), "grün \ufffd× 漢字 \ufffd");
}

TEST_F(RunFolder, DuplicateSample_IsRefused) {
  const std::string one = R"({"sample_id": 0, "compiled": true, "correctness": true})";
  put("eval_results.json", "{\"1\": [" + one + "," + one + "], \"01\": [" + one + "]}");
  const auto read = EvalResults::read(folder_ / "eval_results.json");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->all().empty());
  ASSERT_EQ(read->refused().size(), 3u);
  EXPECT_NE(read->refused()[0].why.find("found this sample_id twice, expected it once"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
