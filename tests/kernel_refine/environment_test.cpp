// The environment alone: interpretation of actions, and actions that are refused before a build.
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() {
    KernelRefineOptions options;
    options.templates = templates_folder();
    options.source_bytes_max = 100;
    options.response_bytes_max = 1000;
    auto made = make_kernel_refine(options);
    EXPECT_TRUE(made.ok()) << made.error().message;
    environment = std::move(*made);
    set(Value::map());
  }
  void set(const Value& options) {
    Fields f(options, "options");
    settings = environment->read_options(f, task, backend);
    const Status read = f.finish();
    EXPECT_TRUE(read.ok()) << read.error().message;
  }
  EpisodeView view() const { return {task, backend, *settings, {}, 0}; }
  Verdict refused(const Value& action) {
    const auto prepared = environment->prepare(view(), action);
    EXPECT_TRUE(prepared.ok());
    const auto* verdict = std::get_if<Verdict>(&*prepared);
    EXPECT_NE(verdict, nullptr);
    return verdict != nullptr ? *verdict : Verdict();
  }
  SubmittedCode taken(const Value& action) {
    const auto prepared = environment->prepare(view(), action);
    EXPECT_TRUE(prepared.ok());
    const auto* candidate = std::get_if<SubmittedCode>(&*prepared);
    EXPECT_NE(candidate, nullptr);
    return candidate != nullptr ? *candidate : SubmittedCode();
  }

  const Task task = small_task();
  const std::string backend = "cpu";
  std::unique_ptr<Environment> environment;
  std::shared_ptr<const Settings> settings;
};

TEST_F(EnvironmentTest, ActionWithCodeOrResponse_GivesSourceAndLanguage) {
  EXPECT_EQ(taken(Value::map({{"code", "int a;"}})).source, "int a;");
  EXPECT_EQ(taken(Value::map({{"code", "int a;"}, {"language", "C"}})).language, "c");
  const SubmittedCode found = taken(Value::map({{"response", "so\n```c\nvoid add_relu();\n```"}}));
  EXPECT_EQ(found.source, "void add_relu();\n");
  EXPECT_EQ(found.language, "c");
}

TEST_F(EnvironmentTest, LanguageOption_NarrowsTheTasks) {
  set(Value::map({{"language", "c"}}));
  EXPECT_EQ(taken(Value::map({{"code", "int a;"}})).language, "c");
  EXPECT_EQ(refused(Value::map({{"response", "```cpp\nint a;\n```"}})).outcome, Outcome::kNoCode);
  EXPECT_FALSE(
      environment->prepare(view(), Value::map({{"code", "int a;"}, {"language", "c++"}})).ok());
}

TEST_F(EnvironmentTest, TooLargeSource_IsRejected) {
  const Verdict verdict = refused(Value::map({{"code", std::string(101, 'a')}}));
  EXPECT_EQ(verdict.outcome, Outcome::kRejected);
  EXPECT_EQ(verdict.reason, "the source has 101 bytes, at most 100 are allowed");
  EXPECT_EQ(refused(Value::map({{"response", std::string(1001, 'a')}})).reason,
            "the response has 1001 bytes, at most 1000 are allowed");
}

TEST_F(EnvironmentTest, InvalidUtf8_IsRejected) {
  EXPECT_EQ(refused(Value::map({{"code", std::string("int a;\0b", 8)}})).reason,
            "the source is not text: byte 0x00 at offset 6");
  EXPECT_EQ(refused(Value::map({{"code", "int \x7f;"}})).reason,
            "the source is not text: byte 0x7f at offset 4");
  EXPECT_EQ(refused(Value::map({{"code", "int \xff;"}})).reason,
            "the source is not text: byte 0xff at offset 4");
  EXPECT_EQ(taken(Value::map({{"code", "// é\t\r\n\f"}})).language, "c++");
}

TEST_F(EnvironmentTest, UnknownLanguage_IsAnErrorAndUsesNoTurn) {
  for (const char* kind : {"code", "response"}) {
    const auto prepared =
        environment->prepare(view(), Value::map({{kind, "fn main"}, {"language", "rust"}}));
    ASSERT_FALSE(prepared.ok()) << kind;
    EXPECT_EQ(prepared.error().code, Code::kInvalidArgument);
    EXPECT_EQ(prepared.error().message,
              "step: action: unknown language 'rust'; valid: c++, c; this task takes c++ or c");
  }
}

TEST_F(EnvironmentTest, EmptyCode_IsNoCode) {
  EXPECT_EQ(refused(Value::map({{"code", " \n"}})).reason, "the code is empty");
}

TEST_F(EnvironmentTest, EchoedSource_IsTextAndBounded) {
  const Value action = Value::map({{"code", std::string(5000, 'a') + "\xff"}});
  TurnResult result;
  result.verdict = refused(action);
  const Value observation = environment->observe(view(), action, result);
  EXPECT_LE(at(at(observation, {"messages"}).as_array()[0], {"content"}).as_string().size(), 100u);
}

TEST_F(EnvironmentTest, Nil_SwitchesAStopRuleOff) {
  KernelRefineOptions options;
  options.templates = templates_folder();
  options.rules.stop_speedup = 1.3;
  environment = make_kernel_refine(options).value();
  TurnResult fast;
  fast.verdict = ScriptedEvaluator::correct(2);
  set(Value::map());
  EXPECT_TRUE(environment->stop(view(), fast).terminated);
  set(Value::map({{"stop_speedup", nullptr}}));
  EXPECT_FALSE(environment->stop(view(), fast).ended());
}

TEST_F(EnvironmentTest, MissingTemplate_IsReported) {
  KernelRefineOptions options;
  options.templates = "/nowhere";
  EXPECT_NE(make_kernel_refine(options).error().message.find(
                "templates of kernel_refine: open /nowhere/"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::test
