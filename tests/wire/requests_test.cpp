// The strict readers of clients' requests.
#include "wire/requests.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hone::wire {
namespace {

template <typename Request>
std::string mistake(const Value& body) {
  const Result<Request> read = read_request<Request>(body);
  return read ? "(accepted)" : read.error().message;
}

TEST(Requests, Reset_AllFields_AreRead) {
  const auto read = read_request<ResetRequest>(Value::map({{"environment", "e"},
                                                           {"task", "t"},
                                                           {"split", "s"},
                                                           {"group", "g"},
                                                           {"seed", -7},
                                                           {"options", Value::map({{"x", 1}})},
                                                           {"key", "k"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ("e", read->environment);
  EXPECT_EQ("t", read->task);
  EXPECT_EQ("s", read->split);
  EXPECT_EQ("g", read->group);
  EXPECT_EQ(-7, read->seed);
  EXPECT_EQ(Value(1), *read->options->find("x"));
  EXPECT_EQ("k", read->key);
}

TEST(Requests, OptionalFields_AbsentOrNil_AreNotSet) {
  const auto read =
      read_request<ResetRequest>(Value::map({{"environment", Value()}, {"seed", Value()}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->environment);
  EXPECT_FALSE(read->seed);
  EXPECT_FALSE(read->options);
  EXPECT_EQ("", read->task);
  EXPECT_EQ(MetricsFormat::kMap, read_request<MetricsRequest>(Value::map())->format);
}

TEST(Requests, Mistakes_NameTheFieldAndWhatWasExpected) {
  const Value step = Value::map({{"episode", "e"}, {"turn", 1}, {"action", Value::map()}});
  EXPECT_EQ("(accepted)", mistake<StepRequest>(step));
  EXPECT_EQ("step: turn: missing",
            mistake<StepRequest>(Value::map({{"episode", "e"}, {"action", Value::map()}})));
  EXPECT_EQ("step: action: expected a map, found string",
            mistake<StepRequest>(Value(step).set("action", "code")));
  EXPECT_EQ("step: turn: found -1, expected 0 to 9223372036854775807",
            mistake<StepRequest>(Value(step).set("turn", -1)));
  EXPECT_EQ("close: episode: 65 bytes, at most 64 allowed",
            mistake<CloseRequest>(Value::map({{"episode", std::string(65, 'x')}})));
  EXPECT_EQ("reset: seed: expected an integer, found string",
            mistake<ResetRequest>(Value::map({{"seed", "7"}})));
  EXPECT_NE(std::string::npos,
            mistake<ResetRequest>(Value::map({{"sed", 7}})).find("unknown key 'sed'"));
  EXPECT_NE(std::string::npos,
            mistake<MetricsRequest>(Value::map({{"format", "json"}})).find("format: "));
  EXPECT_NE(std::string::npos,
            mistake<HealthRequest>(Value::map({{"x", 1}})).find("unknown key 'x'"));
  EXPECT_EQ("ping: episodes: expected a list of texts, found int",
            mistake<PingRequest>(Value::map({{"episodes", Value::array({7})}})));
}

/// A verb that only this test has.
struct GreetRequest {
  static constexpr VerbFacts kVerb{.name = "greet"};
  std::string text;

  template <typename Visit>
  void fields(Visit& visit) {
    visit.required("text", text, 5);
  }
};

TEST(Requests, RequiredText_HasTheLimitOfItsVerb) {
  EXPECT_EQ(read_request<GreetRequest>(Value::map({{"text", "hello"}}))->text, "hello");
  EXPECT_EQ("greet: text: 6 bytes, at most 5 allowed",
            mistake<GreetRequest>(Value::map({{"text", "hello!"}})));
  EXPECT_EQ("greet: text: missing", mistake<GreetRequest>(Value::map()));
}

TEST(Requests, Hello_NoCommonVersion_IsRefused) {
  const auto hello = read_request<HelloRequest>(
      Value::map({{"versions", Value::array({"hone/1"})}, {"client", "c"}}));
  ASSERT_TRUE(hello.ok()) << hello.error().message;
  EXPECT_EQ(hello->client, "c");
  const auto message = [](Value body) { return read_request<HelloRequest>(body).error().message; };
  EXPECT_EQ(message(Value::map({{"versions", Value::array()}})),
            "versions: found [], this server speaks [hone/1]");
  EXPECT_EQ(message(Value::map({{"versions", Value::array({"hone/1"})}, {"cleint", "c"}})),
            "hello: unknown key 'cleint'; did you mean 'client'?");
  EXPECT_EQ(message(Value::map({{"versions", Value(Value::Array(17, Value("hone/1")))}})),
            "hello/versions: found 17 versions, at most 16 allowed");
}

TEST(Requests, AllVerbs_HaveDistinctNamesAndAreFound) {
  std::set<std::string_view> names;
  for (const VerbFacts& verb : AllRequests::kVerbs) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    EXPECT_EQ(find_verb(verb.name), &verb);
  }
  EXPECT_EQ(names.size(), kVerbCount);
  EXPECT_EQ(find_verb("stpe"), nullptr);
}

}  // namespace
}  // namespace hone::wire
