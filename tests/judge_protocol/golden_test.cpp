// The bytes of two messages, to detect changes of the format.
#include <gtest/gtest.h>

#include <cstdio>

#include "judge_protocol/messages.hpp"

namespace hone {
namespace {

/// Bytes outside printable ASCII as "\x83".
std::string shown(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
    text += c >= ' ' && c <= '~' ? std::string(1, c) : hex;
  }
  return text;
}

TEST(JudgeProtocolGolden, DropRequest_HasTheseBytes) {
  EXPECT_EQ(shown(write_message(HostRequest(DropRequest{"k/baseline"}))),
            "\\x82\\xa7request\\xa4drop\\xa3key\\xaak/baseline");
}

TEST(JudgeProtocolGolden, JudgedReply_HasTheseBytes) {
  JudgedReply reply;
  reply.judgement.ending = Ending::kTimedOut;
  reply.judgement.culprit = Culprit::kSubmission;
  reply.judgement.where = {Place::kCheck, "shape n=8", false};
  reply.judgement.message = "no answer in 2 s";
  EXPECT_EQ(
      shown(write_message(JudgeReply(reply))),
      "\\x83\\xa5reply\\xa6judged\\xa9judgement\\x87\\xa6ending\\xa9timed_out\\xa7culprit"
      "\\xaasubmission\\xa5place\\xa5check\\xa5shape\\xa9shape n=8\\xa6hidden\\xc2\\xa7mess"
      "age\\xb0no answer in 2 s\\xa7verdict\\xde\\x00\\x11\\xa7outcome\\xa7no_code\\xa6reason\\xa0"
      "\\xa5stage\\xa0\\xabdiagnostics\\xa0\\xa6signal\\xa0\\xa8mismatch\\xc0\\xa7speedup"
      "\\xc0\\xa4work\\xc0\\xa8stage_"
      "ms\\x80\\xa8findings\\x90\\xa6timing\\xa0\\xaeconfigurations\\x90\\xacnot_"
      "recorded\\xa0\\xa6caught\\xa0\\xabsecond_look\\xa0\\xabfinge"
      "rprint\\xa0\\xabsource_hash\\xa0\\xa4kept\\xc2");
}

}  // namespace
}  // namespace hone
