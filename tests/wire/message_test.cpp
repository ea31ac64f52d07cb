// The codec of messages: what was written is read again, and limits hold on both sides of their
// edge.
#include "wire/message.hpp"

#include <gtest/gtest.h>

namespace hone::wire {
namespace {

Request sample() {
  return {"step", 12, 500, Value::map({{"turn", 1}}), {"raw", std::string("\0\xff", 2)}};
}

std::string refusal(Frames frames, const Limits& limits = {}) {
  auto decoded = decode_request(incoming(std::move(frames)), limits);
  const auto* refused = std::get_if<Refusal>(&decoded);
  return refused != nullptr ? refused->error.message : "(accepted)";
}

TEST(Message, Request_RoundTrips) {
  auto decoded = decode_request(incoming(encode_request(sample())), {});
  ASSERT_TRUE(std::holds_alternative<Request>(decoded));
  const Request& read = std::get<Request>(decoded);
  EXPECT_EQ(read.verb, "step");
  EXPECT_EQ(read.id, 12);
  EXPECT_EQ(read.deadline_ms, 500);
  EXPECT_EQ(read.body, sample().body);
  EXPECT_EQ(read.buffers, sample().buffers);
}

TEST(Message, Limits_HoldAtTheirEdges) {
  const Frames frames = encode_request(sample());
  const Incoming whole = incoming(frames);
  Limits limits;
  limits.frames_max = frames.size();
  limits.message_bytes_max = whole.bytes;
  limits.header_bytes_max = frames[2].size();
  limits.frame_bytes_max = frames[2].size();
  EXPECT_EQ(refusal(frames, limits), "(accepted)");

  Limits tight = limits;
  --tight.frames_max;
  EXPECT_EQ(refusal(frames, tight), "message: found 6 frames, at most 5 allowed");
  tight = limits;
  --tight.message_bytes_max;
  EXPECT_EQ(refusal(frames, tight), "message: found " + std::to_string(whole.bytes) +
                                        " bytes, at most " + std::to_string(whole.bytes - 1) +
                                        " allowed");
  tight = limits;
  --tight.header_bytes_max;
  EXPECT_EQ(refusal(frames, tight), "message: found 20 bytes of header, at most 19 allowed");
  tight = limits;
  --tight.frame_bytes_max;
  EXPECT_EQ(refusal(frames, tight), "message: found 20 bytes in a frame, at most 19 allowed");
}

TEST(Message, RefusedRequest_KeepsItsId) {
  Frames frames = encode_request(sample());
  frames[3] = "\xc1";
  auto decoded = decode_request(incoming(frames), {});
  ASSERT_TRUE(std::holds_alternative<Refusal>(decoded));
  EXPECT_EQ(std::get<Refusal>(decoded).id, 12);
  EXPECT_EQ(std::get<Refusal>(decoded).verb, "step");
  EXPECT_EQ(std::get<Refusal>(decoded).error.message, "body: messagepack: broken at byte 0");
}

TEST(Message, Reply_MayHaveUnknownMembers) {
  Frames frames = encode_reply({ReplyKind::kProgress, 3, "step", to_msgpack(Value::map()), {}});
  frames[2] = to_msgpack(Value::map({{"id", 3}, {"verb", "step"}, {"later", 1}}));
  frames.emplace_back("a buffer of a later version");
  auto reply = decode_reply(frames, {});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->kind, ReplyKind::kProgress);
  EXPECT_EQ(reply->buffers.size(), 1u);
  frames[1] = "maybe";
  EXPECT_EQ(decode_reply(frames, {}).error().message, "reply: unknown kind 'maybe'");
  EXPECT_EQ(decode_reply({"hone/1", "result"}, {}).error().message,
            "reply: found 2 frames, expected at least 4");
  EXPECT_EQ(decode_reply({"hone/2"}, {}).error().message,
            "first frame: found 'hone/2', this server speaks hone/1");
}

}  // namespace
}  // namespace hone::wire
