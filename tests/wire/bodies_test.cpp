// The bodies of errors and of hello.
#include <gtest/gtest.h>

#include "base/utf8.hpp"
#include "wire/message.hpp"

namespace hone::wire {
namespace {

TEST(ErrorBodies, EachCode_HasItsClass) {
  const std::pair<Code, const char*> kClasses[] = {
      {Code::kInvalidArgument, "protocol"},
      {Code::kUnimplemented, "protocol"},
      {Code::kNotFound, "task"},
      {Code::kFailedPrecondition, "task"},
      {Code::kResourceExhausted, "capacity"},
      {Code::kDeadlineExceeded, "timeout"},
      {Code::kCancelled, "cancelled"},
      {Code::kUnavailable, "infra"},
      {Code::kInternal, "infra"},
  };
  for (const auto& [code, name] : kClasses) {
    const Value value = to_value(error_body({code, "why"}, 250));
    EXPECT_EQ(value.find("class")->as_string(), name);
    EXPECT_EQ(value.find("retryable")->as_bool(), is_retryable(code));
    EXPECT_EQ(value.find("retry_after_ms")->is_nil(), code != Code::kResourceExhausted);
    const auto read = error_body_from_value(value);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->code, code);
    EXPECT_EQ(read->message, "why");
  }
}

TEST(ErrorBodies, Shutdown_IsMarkedOnlyDuringShutdown) {
  ErrorBody body = error_body(unavailable("why"), 0);
  EXPECT_EQ(to_value(body).find("shutting_down"), nullptr);
  EXPECT_FALSE(error_body_from_value(to_value(body))->shutting_down);
  body.shutting_down = true;
  EXPECT_TRUE(error_body_from_value(to_value(body))->shutting_down);
  EXPECT_EQ(error_body_from_value(to_value(body))->drain_ms, std::nullopt);
  body.drain_ms = 1500;
  EXPECT_EQ(error_body_from_value(to_value(body))->drain_ms, 1500);
}

TEST(ErrorBodies, Cause_IsSentByName_UnknownCausesAreKept) {
  EXPECT_EQ(to_value(error_body(internal_error("why"), 0)).find("cause"), nullptr);
  const Error error{Code::kInvalidArgument, "why", ErrorCause::kUnfitTask};
  Value value = to_value(error_body(error.in("dataset x"), 0));
  EXPECT_EQ(error_body_from_value(value)->cause, "unfit_task");
  value.set("cause", "newer");
  EXPECT_EQ(error_body_from_value(value)->cause, "newer");
}

TEST(ErrorBodies, Errors_AreBounded) {
  EXPECT_EQ(error_body(internal_error(std::string(1u << 20, 'x')), 0).message.size(), 4096u);
}

/// Found by fuzzing: a key of a stranger's, quoted in the message, made a reply no client could
/// decode.
TEST(ErrorBodies, Errors_AreUtf8) {
  const Error error = invalid_argument("header: unknown key 'no\xffne'");
  EXPECT_EQ(error_body(error, 0).message, "header: unknown key 'no\xef\xbf\xbdne'");
  std::string long_words = "x";
  while (long_words.size() < 8000) long_words += "é";
  const std::string cut = error_body(internal_error(long_words), 0).message;
  EXPECT_LE(cut.size(), 4096u);
  EXPECT_EQ(find_invalid_utf8(cut), std::string::npos) << "no character is cut in two";
}

TEST(Hello, Welcome_CarriesLimitsAndCapabilities) {
  Welcome welcome;
  welcome.source_bytes = 5;
  welcome.response_bytes = 6;
  welcome.capabilities = Value::map({{"lease_s", 9.0}, {"isolation", "private"}});
  const Value value = to_value(welcome);
  EXPECT_TRUE(value.find("control")->is_nil());
  EXPECT_EQ(value.find("lease_s")->as_double(), 9);
  EXPECT_EQ(value.find("isolation")->as_string(), "private");
  EXPECT_EQ(value.find("limits")->find("source_bytes")->as_int(), 5);
  EXPECT_EQ(value.find("limits")->find("response_bytes")->as_int(), 6);
  EXPECT_EQ(value.find("limits")->find("frame_bytes")->as_int(), 4 << 20);
}

}  // namespace
}  // namespace hone::wire
