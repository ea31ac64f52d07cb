// Traces as their pipeline writes them, what is refused in them, and what is said of two verdicts.
#include "cli/trace_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
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
  return to_json(Value::array({Value::map(
      {{"sample_key", "kernelbook_1"}, {"name", Value()}, {"turns", Value::array({one})}})}));
}

RecordedTurn read_one(const Value& one) {
  const auto traces = read_traces(traces_of(one));
  if (!traces) {
    ADD_FAILURE() << traces.error().message;
    return {};
  }
  return traces->at(0).turns.at(0);
}

TEST(TraceFile, ReadsVerdicts) {
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

TEST(TraceFile, SaysWhatWasRaised) {
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

TEST(TraceFile, MistakesNameTheTraceAndTheTurn) {
  const auto said = [](const std::string& text) {
    const auto traces = read_traces(text);
    return traces ? std::string("(read)") : traces.error().message;
  };
  const std::string expected = "no traces: expected a JSON list, or JSON Lines: ";
  EXPECT_EQ(said("[1"), expected + from_json("[1").error().message);
  EXPECT_EQ(said("{}\n{"), expected + "line 2: " + from_json("{").error().message);
  EXPECT_EQ(said("1"), "no traces: expected a list, found int");
  EXPECT_EQ(said("[]"), "no traces: the list is empty");
  EXPECT_NE(said("[1]").find("trace 0"), std::string::npos) << said("[1]");
  EXPECT_NE(said(R"([{"sample_key": "a"}])").find("turns"), std::string::npos);
  const std::string without = said(traces_of(Value::map({{"turn", 1}, {"result", correct(true)}})));
  EXPECT_NE(without.find("turns/0"), std::string::npos) << without;
  EXPECT_NE(without.find("expected code or a full_completion, found neither"), std::string::npos);
  const std::string mute = said(traces_of(turn(Value::map())));
  EXPECT_NE(mute.find("correctness"), std::string::npos) << mute;
  const std::string twice =
      R"([{"sample_key": "a", "turns": []}, {"sample_key": "a", "turns": []}])";
  EXPECT_EQ(said(twice), "trace 1: two are called a");
}

TEST(TraceFile, JsonLinesAreTraces) {
  const auto traces = read_traces(
      "{\"sample_key\": \"a\", \"turns\": []}\n\n"
      "{\"sample_key\": \"b\", \"turns\": []}\n");
  ASSERT_TRUE(traces) << traces.error().message;
  ASSERT_EQ(traces->size(), 2u);
  EXPECT_EQ((*traces)[1].key, "b");
}

Verdict verdict(Outcome outcome, const std::string& reason) {
  Verdict made;
  made.outcome = outcome;
  made.reason = reason;
  return made;
}

TEST(TraceFile, TwoVerdictsAgreeOrSayWhyNot) {
  RecordedTrace trace{"kernelbook_1", "kernelbook_1", {}};
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

TEST(TraceFile, TakesThoseOfAFileThatAreNamed) {
  const auto scratch = ScratchFolder::make();
  ASSERT_TRUE(scratch.ok());
  const std::string file = (scratch->path() / "traces.json").string();
  const auto trace = [](const char* key) {
    return Value::map({{"sample_key", key}, {"turns", Value::array({turn(correct(true))})}});
  };
  ASSERT_TRUE(write_file(file, to_json(Value::array({trace("one"), trace("two")}))));
  EXPECT_EQ(read_trace_file(file, {})->size(), 2u);
  const auto second = read_trace_file(file, {"two"});
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_EQ(second->size(), 1u);
  EXPECT_EQ(second->at(0).task_id(), "traces/two");
  EXPECT_EQ(traces_dataset(file).config.find("path")->as_string(), file);
  EXPECT_EQ(read_trace_file(file, {"twp"}).error().message,
            file + ": unknown trace 'twp'; did you mean 'two'?");
}

TEST(TraceFile, ReadsTheRealOnes) {
  const std::filesystem::path file =
      test::source_dir().parent_path() / "shared/data/traces/reasoning_traces_qwen3_multiturn.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const auto traces = read_traces(*read_file(file));
  ASSERT_TRUE(traces.ok()) << traces.error().message;
  EXPECT_EQ(traces->size(), 9u);
  std::size_t turns = 0, right = 0;
  for (const RecordedTrace& trace : *traces) {
    turns += trace.turns.size();
    for (const RecordedTurn& one : trace.turns) right += one.correct ? 1 : 0;
  }
  EXPECT_EQ(turns, 31u);
  EXPECT_EQ(right, 16u);
}

}  // namespace
}  // namespace hone
