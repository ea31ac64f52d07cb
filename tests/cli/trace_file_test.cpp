// Traces of the pipeline: reading, errors, and the comparison of two verdicts.
#include "integrations/pipeline/trace_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "integrations/pipeline/trace_tasks.hpp"
#include "places.hpp"

namespace hone {
namespace {

Value turn(const Value& result, const std::string& response = "<triton>\nx\n</triton>") {
  return Value::map(
      {{"turn", 1}, {"full_completion", response}, {"triton_code", "x"}, {"result", result}});
}

Value correct(bool is, const Value& error = {}) {
  return Value::map({{"correctness", is}, {"speedup", 0.5}, {"error", error}});
}

std::string traces_of(const Value& one) {
  return to_json(Value::array({Value::map({{"sample_key", "kernelbook_1"},
                                           {"pytorch_code", "class A: pass"},
                                           {"name", Value()},
                                           {"turns", Value::array({one})}})}));
}

RecordedTurn read_one(const Value& one) {
  const auto file = read_traces(traces_of(one));
  if (!file) {
    ADD_FAILURE() << file.error().message;
    return {};
  }
  return file->traces.at(0).turns.at(0);
}

TEST(TraceFile, RecordedVerdicts_AreRead) {
  const RecordedTurn good = read_one(turn(correct(true)));
  EXPECT_TRUE(good.correct);
  EXPECT_EQ(good.word, "correct");
  EXPECT_EQ(good.speedup, 0.5);
  EXPECT_EQ(good.action().find("response")->as_string(), "<triton>\nx\n</triton>");
  const RecordedTurn wrong = read_one(turn(correct(false)));
  EXPECT_EQ(wrong.word, "wrong");
  EXPECT_EQ(wrong.error, "");
  EXPECT_EQ(wrong.speedup, std::nullopt) << "0 there, and means nothing";
  EXPECT_EQ(read_one(turn(correct(true), "")).action().find("code")->as_string(), "x");
}

TEST(TraceFile, ExceptionsName_IsRead) {
  const RecordedTurn compile = read_one(
      turn(correct(false,
                   "CompilationError: at 39:12:\n\n    acc = tl.zeros()\nTraceback (most recent "
                   "call last):\n  File \"x.py\", line 1\nValueError: Cannot broadcast\n\n"
                   "triton.compiler.errors.CompilationError: at 39:12:\n")));
  EXPECT_EQ(compile.word, "CompilationError");
  EXPECT_EQ(compile.error, "ValueError: Cannot broadcast");
  const RecordedTurn fault =
      read_one(turn(correct(false, "RuntimeError: CUDA error: an illegal memory access")));
  EXPECT_EQ(fault.word, "RuntimeError");
  EXPECT_EQ(fault.error, "RuntimeError: CUDA error: an illegal memory access");
  EXPECT_EQ(read_one(turn(correct(false, "it broke: badly"))).word, "error");
}

TEST(TraceFile, UnreadableFile_NamesTheRowWhatWasFoundAndWhatWasExpected) {
  const auto said = [](const std::string& text) {
    const auto file = read_traces(text);
    return file ? std::string("(read)") : file.error().message;
  };
  const std::string expected = "no traces: expected a JSON list, or JSON Lines: ";
  EXPECT_EQ(said("[1"), expected + from_json("[1").error().message);
  EXPECT_EQ(said("{}\n{"), "line 1: sample_key: found nothing, expected a string (and 1 more)");
  EXPECT_EQ(said("1"), "no traces: expected a list, found int");
  EXPECT_EQ(said("[]"), "no traces: the list is empty");
  EXPECT_EQ(said("[1]"), "row 1: found int, expected a map with sample_key");
  EXPECT_EQ(said(R"([{"sample_key": "a b", "turns": []}])"),
            "row 1: sample_key: found \"a b\", expected at most 100 letters, digits, '_', '.' and "
            "'-'");
  EXPECT_EQ(said(R"([{"sample_key": "a"}])"),
            "row 1: found neither turns nor triton_code, expected one of them");
  EXPECT_EQ(said(R"([{"sample_key": "a", "turns": [7]}])"),
            "row 1: turns/0: found int, expected a map");
  EXPECT_EQ(said(traces_of(Value::map({{"turn", 1}, {"result", correct(true)}}))),
            "row 1: turns/0: found neither triton_code nor full_completion, expected one of them");
  EXPECT_EQ(said(traces_of(turn(Value::map()))),
            "row 1: turns/0: result/correctness: found nothing, expected true or false");
  EXPECT_EQ(said(traces_of(Value::map({{"turn", 0}, {"triton_code", "x"}}))),
            "row 1: turns/0: turn: found 0, expected 1 to 1048576");
  EXPECT_EQ(said(R"([{"sample_key": "a", "triton_code": "x", "result": {"correctness": true}}])"),
            "row 1: pytorch_code: found nothing, expected the source of the task's module");
}

std::vector<std::string> broken_rows(const TraceFile& file) {
  std::vector<std::string> said;
  for (const BrokenRow& row : file.broken) said.push_back(row.key + "|" + row.what);
  return said;
}

TEST(TraceFile, BrokenRow_DoesNotStopTheOthers) {
  const auto file = read_traces(R"([
    {"sample_key": "a", "pytorch_code": "m", "triton_code": "x", "result": {"correctness": true}},
    7,
    {"sample_key": "a", "pytorch_code": "n", "triton_code": "x", "result": {"correctness": true}},
    {"sample_key": "b", "pytorch_code": "m", "turns": [
      {"turn": 1, "triton_code": "x", "result": {"correctness": 1}},
      {"turn": 2, "triton_code": "x", "result": {"correctness": false, "speedup": NaN}}]}])");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(broken_rows(*file),
            (std::vector<std::string>{
                "|row 2: found int, expected a map with sample_key",
                "a|row 3: pytorch_code: found another module than row 1 has for a, expected the "
                "same",
                "b|row 4: turns/0: result/correctness: found int, expected true or false"}));
  ASSERT_EQ(file->traces.size(), 2u);
  EXPECT_EQ(file->traces[1].turns.at(0).turn, 2);
  EXPECT_EQ(file->tasks.as_array().size(), 2u);
}

TEST(TraceFile, BrokenLine_DoesNotStopTheOthers) {
  const std::string fine = R"({"sample_key": "a", "pytorch_code": "m", "triton_code": "x"})";
  const auto file = read_traces(fine + "\n\n{\n" + fine + "\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(broken_rows(*file),
            std::vector<std::string>{"|line 3: " + from_json("{").error().message});
  ASSERT_EQ(file->traces.size(), 2u);
  EXPECT_EQ(file->traces[1].name(), "a/1");
}

TEST(TraceFile, SingleTurnRows_AreSamplesOfTheirTask) {
  const std::string row =
      R"({"sample_key": "a", "pytorch_code": "m", "entry_point": "Net", "thinking": "t",
          "triton_code": "x", "full_completion": "<triton>x</triton>",
          "result": {"correctness": true, "speedup": 2.5, "error": null}})";
  const std::string other = R"({"sample_key": "b", "pytorch_code": "n", "triton_code": "y",
                                "result": {"correctness": false, "error": null}})";
  const auto file = read_traces("[" + row + "," + other + "," + row + "]");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->traces.size(), 3u);
  EXPECT_EQ(file->traces[0].name(), "a");
  EXPECT_EQ(file->traces[1].name(), "b");
  EXPECT_EQ(file->traces[2].name(), "a/1");
  EXPECT_EQ(file->traces[2].task_id(), "traces/a");
  const RecordedTurn& first = file->traces[0].turns.at(0);
  EXPECT_EQ(first.turn, 1);
  EXPECT_EQ(first.speedup, 2.5);
  EXPECT_EQ(first.action().find("response")->as_string(), "<triton>x</triton>");
  EXPECT_EQ(file->traces[1].turns.at(0).action().find("code")->as_string(), "y");
  EXPECT_EQ(to_json(file->tasks), R"([{"sample_key":"a","pytorch_code":"m","entry_point":"Net"},)"
                                  R"({"sample_key":"b","pytorch_code":"n"}])");
}

struct GeneratedCase {
  const char* row;  ///< after sample_key
  bool generated;
};

TEST(TraceFile, TurnWithoutCode_IsNotGenerated) {
  const GeneratedCase cases[] = {
      {R"("triton_code": null, "result": {"correctness": false, "error": "no code"})", false},
      {R"("triton_code": "", "full_completion": "Hm.", "result": {"correctness": false})", false},
      {R"("triton_code": " \n", "result": null)", false},
      {R"("error": "Triton extraction failed", "full_completion": "Hm.")", false},
      {R"("triton_code": null, "full_completion": "Hm.", "result": {"correctness": true})", true},
      {R"("full_completion": "Hm.", "result": {"correctness": false})", true},
      {R"("triton_code": "x", "result": null)", true},
  };
  for (const GeneratedCase& one : cases) {
    const std::string single =
        std::string(R"({"sample_key": "a", "pytorch_code": "m", )") + one.row + "}";
    const std::string several = std::string(R"({"sample_key": "a", "pytorch_code": "m", )") +
                                R"("turns": [{"turn": 1, )" + one.row + "}]}";
    for (const std::string& row : {single, several}) {
      const auto file = read_traces(row);
      ASSERT_TRUE(file) << row << ": " << file.error().message;
      EXPECT_TRUE(file->broken.empty()) << row << ": " << file->broken[0].what;
      EXPECT_EQ(file->traces.at(0).turns.at(0).generated, one.generated) << row;
      EXPECT_EQ(file->tasks.as_array().empty(), !one.generated) << row;
    }
  }
}

TEST(TraceFile, TurnWithoutCode_HasThePipelinesReason) {
  const auto failed = read_traces(
      R"([{"sample_key": "a", "error": "Triton extraction failed", "full_completion": "Hm."}])");
  ASSERT_TRUE(failed) << failed.error().message;
  const RecordedTrace& trace = failed->traces.at(0);
  const TraceComparison compared{&trace, &trace.turns.at(0), {}};
  EXPECT_EQ(compared.why(), "recorded: Triton extraction failed");
  EXPECT_TRUE(compared.to_value().find("recorded")->is_nil());
  EXPECT_FALSE(compared.to_value().find("generated")->as_bool());
}

Verdict verdict(Outcome outcome, const std::string& reason) {
  Verdict made;
  made.outcome = outcome;
  made.reason = reason;
  return made;
}

TEST(TraceFile, DifferentVerdicts_HaveAReason) {
  const RecordedTrace trace{"kernelbook_1", 0, "kernelbook_1", {}};
  RecordedTurn good = read_one(turn(correct(true)));
  RecordedTurn wrong = read_one(turn(correct(false)));
  RecordedTurn raised = read_one(turn(correct(false, "NameError: n_required")));
  const auto compare = [&](const RecordedTurn& recorded, Result<Verdict> now) {
    return TraceComparison{&trace, &recorded, std::move(now)};
  };
  const auto right = verdict(Outcome::kCorrect, "");
  EXPECT_TRUE(compare(good, right).agrees());
  EXPECT_EQ(compare(good, right).why(), "");
  EXPECT_FALSE(compare(wrong, right).agrees());
  EXPECT_EQ(compare(wrong, right).why(), "recorded: outputs that do not match, without a place");
  EXPECT_EQ(compare(raised, right).why(), "recorded: NameError: n_required");
  const auto late = verdict(Outcome::kTimedOut, "a call took longer than 60 s");
  EXPECT_FALSE(compare(good, late).agrees());
  EXPECT_EQ(compare(good, late).why(), "a call took longer than 60 s");
  auto off = verdict(Outcome::kWrong, "output out is wrong for the only shape");
  Mismatch& mismatch = off.mismatch.emplace();
  mismatch.tensor = "out";
  mismatch.shape = "n=8";
  mismatch.wrong = 166;
  mismatch.total = 256;
  EXPECT_EQ(compare(good, off).why(), "Output `out`, shape n=8: 166 of 256 elements are wrong.");
  EXPECT_TRUE(compare(raised, late).agrees()) << "neither is right";
  const TraceComparison fault = compare(good, internal_error("the judge is gone"));
  EXPECT_FALSE(fault.judged());
  EXPECT_FALSE(fault.agrees());
  EXPECT_EQ(fault.why(), "the judge is gone");
  EXPECT_TRUE(fault.to_value().find("agrees")->is_nil());
  EXPECT_EQ(compare(good, late).to_value().find("verdict")->find("outcome")->as_string(),
            "timed_out");
}

TEST(TraceFile, Counts_HaveEachTurnOnce) {
  const RecordedTrace trace{"kernelbook_1", 0, "kernelbook_1", {}};
  const RecordedTurn good = read_one(turn(correct(true)));
  const RecordedTurn unknown = read_one(turn(Value()));
  const RecordedTurn empty = read_one(Value::map({{"turn", 1}, {"triton_code", Value()}}));
  TraceCounts counts;
  counts.add({&trace, &good, verdict(Outcome::kCorrect, "")});
  counts.add({&trace, &good, verdict(Outcome::kWrong, "")});
  counts.add({&trace, &unknown, verdict(Outcome::kCrashed, "")});
  counts.add({&trace, &good, Result<Verdict>(internal_error("the judge is gone"))});
  counts.add({&trace, &empty, {}});
  EXPECT_EQ(counts.turns, 5u);
  EXPECT_EQ(counts.agree, 1u);
  EXPECT_EQ(counts.differ, 1u);
  EXPECT_EQ(counts.not_recorded, 1u);
  EXPECT_EQ(counts.not_judged, 1u);
  EXPECT_EQ(counts.not_generated, 1u);
  EXPECT_EQ(counts.correct, 1u);
  EXPECT_EQ(counts.wrong, 1u);
  EXPECT_EQ(counts.other, 1u);
}

TEST(TraceFile, GivenKeys_SelectTraces) {
  const auto scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok());
  const std::string file = (scratch->path() / "traces.json").string();
  const auto trace = [](const char* key) {
    return Value::map({{"sample_key", key},
                       {"pytorch_code", std::string("class ") + key},
                       {"turns", Value::array({turn(correct(true))})}});
  };
  ASSERT_TRUE(write_file(file, to_json(Value::array({trace("one"), trace("two")}))));
  EXPECT_EQ(read_trace_file(file, {})->traces.size(), 2u);
  const auto second = read_trace_file(file, {"two"});
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_EQ(second->traces.size(), 1u);
  EXPECT_EQ(second->traces[0].task_id(), "traces/two");
  const auto tasks = TraceTasks::write(*second);
  ASSERT_TRUE(tasks.ok()) << tasks.error().message;
  const auto written = read_file(tasks->dataset().config.find("path")->as_string());
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(*written, "{\"sample_key\":\"two\",\"pytorch_code\":\"class two\"}\n");
  EXPECT_EQ(read_trace_file(file, {"twp"}).error().message,
            file + ": unknown trace 'twp'; did you mean 'two'?");
}

TEST(TraceFile, SelectedTrace_IsReadDespiteBrokenRows) {
  const auto scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok());
  const std::string file = (scratch->path() / "traces.json").string();
  ASSERT_TRUE(write_file(file, R"([{"sample_key": "fine", "triton_code": null}, 7,
                                   {"sample_key": "broken", "triton_code": 1}])"));
  const auto fine = read_trace_file(file, {"fine"});
  ASSERT_TRUE(fine.ok()) << fine.error().message;
  EXPECT_TRUE(fine->broken.empty());
  EXPECT_EQ(read_trace_file(file, {"broken"}).error().message,
            file + ": row 3: triton_code: found int, expected a string or null");
}

TEST(TraceFile, RealTraces_AreRead) {
  const std::filesystem::path file =
      test::source_dir().parent_path() / "shared/data/traces/reasoning_traces_qwen3_multiturn.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const auto read = read_traces(*read_file(file));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->traces.size(), 9u);
  EXPECT_TRUE(read->broken.empty());
  std::size_t turns = 0, right = 0;
  for (const RecordedTrace& trace : read->traces) {
    turns += trace.turns.size();
    for (const RecordedTurn& one : trace.turns) right += one.correct ? 1 : 0;
  }
  EXPECT_EQ(turns, 31u);
  EXPECT_EQ(right, 16u);
}

}  // namespace
}  // namespace hone
