// TritonForge's requests and replies: every kind of mistake, and every outcome.
#include "gateway/tritonforge_words.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace hone::tritonforge {
namespace {

EvalRequest good(const std::string& body) {
  auto read = read_request(body);
  EXPECT_TRUE(std::holds_alternative<EvalRequest>(read)) << body;
  const auto* request = std::get_if<EvalRequest>(&read);
  return request != nullptr ? *request : EvalRequest{};
}

std::string refused(const std::string& body) {
  auto read = read_request(body);
  const auto* reply = std::get_if<HttpReply>(&read);
  EXPECT_NE(reply, nullptr) << body;
  if (reply == nullptr) return "";
  EXPECT_EQ(reply->status, 422);
  return to_json(reply->body);
}

const std::string kSources = R"("original_model_src":"m","custom_model_src":"n")";

TEST(TritonForgeWords, Request_IsReadWithItsDefaults) {
  const EvalRequest plain = good("{" + kSources + "}");
  EXPECT_EQ(plain.reference, "m");
  EXPECT_EQ(plain.submission, "n");
  EXPECT_EQ(plain.seed, 42);
  EXPECT_TRUE(plain.measure);
  EXPECT_EQ(plain.backend, "cuda");
  const EvalRequest full =
      good("{" + kSources +
           R"(,"seed_num":7,"num_correct_trials":5,"num_perf_trials":100.0,"verbose":true,)"
           R"("measure_performance":false,"preferred_device":null,"backend":"triton","more":[1]})");
  EXPECT_EQ(full.seed, 7);
  EXPECT_FALSE(full.measure);
  EXPECT_TRUE(full.verbose);
  EXPECT_EQ(full.backend, "triton");
}

TEST(TritonForgeWords, Seed_HasBothOfTritonForgesNames) {
  EXPECT_EQ(good("{" + kSources + R"(,"seed":9})").seed, 9);
  EXPECT_EQ(good("{" + kSources + R"(,"seed":9,"seed_num":8})").seed, 8);
}

TEST(TritonForgeWords, InvalidRequest_EveryMistakeIsListed) {
  const std::string said = refused(R"({"original_model_src":7,"verbose":"no","seed_num":1.5})");
  for (
      const char* part :
      {R"({"type":"string_type","loc":["body","original_model_src"],"msg":"found int, expected a string"})",
       R"({"type":"missing","loc":["body","custom_model_src"],"msg":"field required"})",
       R"("loc":["body","verbose"],"msg":"found string, expected true or false")",
       R"("loc":["body","seed_num"],"msg":"found float, expected an integer")"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_NE(refused("{" + kSources + R"(,"num_perf_trials":-1})").find("expected 0 to"),
            std::string::npos);
}

TEST(TritonForgeWords, Submission_InvalidUtf8OrHalfAPair_IsReplacedAndJudged) {
  const std::string reference = R"({"original_model_src":"m",)";
  for (const char* sent : {"a\\ud83d", "a\xe9", "a\\udfff"}) {
    const EvalRequest read = good(reference + R"("custom_model_src":")" + sent + "\"}");
    EXPECT_EQ(read.submission, "a\xef\xbf\xbd") << sent;
  }
}

TEST(TritonForgeWords, NotJson_IsRefused) {
  for (const char* body :
       {"", "{", "[1,2]", "null", "\xff", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud80\"}"})
    EXPECT_NE(refused(body).find(R"("loc":["body"])"), std::string::npos) << body;
  EXPECT_NE(refused(std::string(100000, '[')).find("json_invalid"), std::string::npos);
}

Value reply(Outcome outcome, VerdictStage stage, bool measure = true) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.stage = stage;
  verdict.reason = "a reason";
  verdict.diagnostics = "line 4";
  EvalRequest request;
  request.measure = measure;
  return reply_of(verdict, request, "a processor");
}

TEST(TritonForgeWords, EachOutcome_HasTritonForgesReply) {
  struct Case {
    Outcome outcome;
    VerdictStage stage;
    bool compiled;
    const char* key;
  };
  std::set<std::string_view> replied = {outcome_name(Outcome::kCorrect)};  // the next test
  for (const Case& one : std::initializer_list<Case>{
           {Outcome::kNoCode, VerdictStage::kResponse, false, "compilation_error"},
           {Outcome::kRejected, VerdictStage::kResponse, false, "compilation_error"},
           {Outcome::kBuildFailed, VerdictStage::kBuild, false, "compilation_error"},
           {Outcome::kCrashed, VerdictStage::kLoad, false, "compilation_error"},
           {Outcome::kCrashed, VerdictStage::kCheck, true, "runtime_error"},
           {Outcome::kTimedOut, VerdictStage::kCheck, true, "runtime_error"},
           {Outcome::kOutOfMemory, VerdictStage::kCheck, true, "runtime_error"},
           {Outcome::kWrong, VerdictStage::kCheck, true, "correctness_issue"},
           {Outcome::kCheated, VerdictStage::kMeasure, true, "correctness_issue"}}) {
    replied.insert(outcome_name(one.outcome));
    const Value said = reply(one.outcome, one.stage);
    EXPECT_EQ(said.find("compiled")->as_bool(), one.compiled) << one.key;
    EXPECT_FALSE(said.find("correctness")->as_bool());
    EXPECT_EQ(said.find("runtime")->as_double(), -1);
    EXPECT_TRUE(said.find("runtime_stats")->as_map().empty());
    const Value* metadata = said.find("metadata");
    ASSERT_NE(metadata->find(one.key), nullptr) << to_json(said);
    EXPECT_EQ(metadata->find(one.key)->as_string(), "a reason\nline 4");
    EXPECT_EQ(metadata->find(std::string(one.key) + "_name")->as_string(),
              outcome_name(one.outcome));
  }
  for (const OutcomeRow& row : kOutcomes)
    EXPECT_EQ(replied.count(row.name), 1u) << row.name << ": add a case";
}

TEST(TritonForgeWords, MissingTime_IsNotInvented) {
  const Value said = reply(Outcome::kCorrect, VerdictStage::kDone);
  EXPECT_TRUE(said.find("compiled")->as_bool());
  EXPECT_TRUE(said.find("correctness")->as_bool());
  EXPECT_EQ(said.find("runtime")->as_double(), -1);
  EXPECT_TRUE(said.find("runtime_stats")->as_map().empty());
  EXPECT_EQ(said.find("metadata")->find("error_during_performance")->as_string(),
            "not measured: hone does not time modules on the processor");
  EXPECT_EQ(reply(Outcome::kCorrect, VerdictStage::kDone, false)
                .find("metadata")
                ->find("error_during_performance"),
            nullptr);
}

TEST(TritonForgeWords, ReplyTimes_AreInMilliseconds) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.speedup = Speedup{};
  verdict.speedup->value = 2;
  verdict.speedup->time_us = 1500;
  verdict.speedup->baseline_us = 3000;
  const Value said = reply_of(verdict, {}, "a device");
  EXPECT_EQ(said.find("runtime")->as_double(), 1.5);
  EXPECT_EQ(said.find("runtime_stats")->find("reference_mean")->as_double(), 3.0);
}

}  // namespace
}  // namespace hone::tritonforge
