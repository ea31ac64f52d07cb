// What a stranger may send: each malformed message is answered with what is wrong, and the next
// client is served.
#include <random>

#include "server/scripted_service.hpp"
#include "server/test_client.hpp"
#include "wire/requests.hpp"

namespace hone {
namespace {

class MalformedFrames : public testing::Test {
 protected:
  /// Sends the frames and gives the one reply to them.
  Answer reply_to(const wire::Frames& frames) {
    client_.send_frames(frames);
    return client_.receive();
  }
  static std::string header(Value value) { return to_msgpack(value); }
  static std::string empty() { return to_msgpack(Value::map()); }

  ScriptedService service_;
  std::unique_ptr<Server> server_ = start_server(service_);
  TestClient client_{server_->endpoint()};
};

TEST_F(MalformedFrames, MissingFrames_AreCounted) {
  expect_error(reply_to({"hone/1"}), -1, "invalid_argument",
               "message: found 1 frames, expected hone/1, verb, header, body and any buffers");
  expect_error(reply_to({"hone/1", "ping", header(Value::map({{"id", 5}}))}), 5, "invalid_argument",
               "message: found 3 frames, expected hone/1, verb, header, body and any buffers");
}

TEST_F(MalformedFrames, AnotherProtocolOrVersion_IsNamed) {
  expect_error(reply_to({"hone/2", "ping", header(Value::map({{"id", 5}})), empty()}), -1,
               "invalid_argument", "first frame: found 'hone/2', this server speaks hone/1");
  expect_error(reply_to({std::string("GET / \r\n\0", 9)}), -1, "invalid_argument",
               "first frame: found 'GET / \?\?\?', this server speaks hone/1");
  expect_error(reply_to({""}), -1, "invalid_argument",
               "first frame: found '', this server speaks hone/1");
}

TEST_F(MalformedFrames, Header_MustBeAMapWithAnId) {
  const auto with_header = [&](const std::string& bytes) {
    return reply_to({"hone/1", "ping", bytes, empty()});
  };
  expect_error(with_header(to_msgpack(Value::array({1}))), -1, "invalid_argument",
               "header: found array, expected a map");
  expect_error(with_header(empty()), -1, "invalid_argument", "header: id: missing");
  expect_error(with_header(header(Value::map({{"id", -4}}))), -1, "invalid_argument",
               "header: id: found -4, expected 0 to 9223372036854775807");
  expect_error(with_header(header(Value::map({{"id", 4}, {"deadline_msec", 5}}))), 4,
               "invalid_argument",
               "header: unknown key 'deadline_msec'; did you mean 'deadline_ms'?");
  expect_error(with_header(header(Value::map({{"id", 4}, {"deadline_ms", 0}}))), 4,
               "invalid_argument", "header: deadline_ms: found 0, expected 1 to 604800000");
  expect_error(with_header(std::string("\xc1", 1)), -1, "invalid_argument",
               "header: messagepack: broken at byte 0");
  expect_error(with_header(std::string(2000, '\x80')), -1, "invalid_argument",
               "message: found 2000 bytes of header, at most 1024 allowed");
}

TEST_F(MalformedFrames, Body_MustBeAMapWithinTheLimits) {
  const auto with_body = [&](const std::string& bytes) {
    return reply_to({"hone/1", "ping", header(Value::map({{"id", 9}})), bytes});
  };
  expect_error(with_body(to_msgpack("text")), 9, "invalid_argument",
               "body: found string, expected a map");
  expect_error(with_body(empty() + "x"), 9, "invalid_argument",
               "body: messagepack: 1 bytes after the value");
  expect_error(with_body("\xdd\x10" + std::string(3, '\0')), 9, "invalid_argument",
               "body: messagepack: array of 268435456 items, at most 65536 allowed");
  expect_error(with_body(std::string(2'000'000, '\x91')), 9, "invalid_argument",
               "body: messagepack: nested deeper than 32");
  expect_error(with_body(std::string("\xdb\xff\xff\xff\xff", 5)), 9, "invalid_argument",
               "body: messagepack: cut off at byte 5");
  // 1,100 arrays of 1,000 nils.
  std::string many("\xdc\x04\x4c", 3);
  for (int i = 0; i < 1100; ++i) many += "\xdc\x03\xe8" + std::string(1000, '\xc0');
  expect_error(with_body(many), 9, "invalid_argument",
               "body: messagepack: more than 1048576 values");
}

TEST_F(MalformedFrames, TooManyFramesAndBytes_AreCounted) {
  wire::Frames frames{"hone/1", "ping", header(Value::map({{"id", 3}})), empty()};
  for (int i = 0; i < 13; ++i) frames.emplace_back("x");
  expect_error(reply_to(frames), 3, "invalid_argument",
               "message: found 17 frames, at most 16 allowed");
  frames.resize(4);
  for (int i = 0; i < 5; ++i) frames.emplace_back(std::string(4u << 20, 'x'));
  expect_error(reply_to(frames), 3, "invalid_argument",
               "message: found 20971536 bytes, at most 16777216 allowed");
}

TEST_F(MalformedFrames, MillionTinyFrames_AreRefusedOnce) {
  wire::Frames frames{"hone/1", "ping", header(Value::map({{"id", 3}})), empty()};
  frames.resize(1'000'000);
  expect_error(reply_to(frames), 3, "invalid_argument",
               "message: found 1000000 frames, at most 16 allowed");
  EXPECT_EQ(client_.ask("ping").kind, wire::ReplyKind::kResult);
}

TEST_F(MalformedFrames, OversizeFrame_ClosesOnlyTheSendersConnection) {
  TestClient other(server_->endpoint());
  EXPECT_EQ(other.ask("ping").kind, wire::ReplyKind::kResult);
  client_.send_frames(
      {"hone/1", "ping", header(Value::map({{"id", 3}})), std::string(5u << 20, 'x')});
  EXPECT_EQ(other.ask("ping").kind, wire::ReplyKind::kResult);
  // ZeroMQ connects again by itself; what was too large is gone.
  EXPECT_EQ(client_.ask("ping").kind, wire::ReplyKind::kResult);
}

TEST_F(MalformedFrames, UnknownVerb_NamesTheNearest) {
  expect_error(client_.ask("stpe"), 1, "unimplemented",
               "unknown verb 'stpe'; did you mean 'step'?");
  expect_error(client_.ask("metrics"), 1, "failed_precondition",
               "metrics is served on the control endpoint " + server_->control_endpoint());
  TestClient control(server_->control_endpoint());
  expect_error(control.ask("step"), 1, "failed_precondition",
               "step is served on the main endpoint " + server_->endpoint());
}

TEST_F(MalformedFrames, Buffers_MustBeNamed) {
  client_.send("ping", 1, Value::map(), {"raw"});
  expect_error(client_.receive(), 1, "invalid_argument",
               "ping: found 1 raw buffers, the body names 0");
  const Value step = Value::map({{"turn", 1}, {"action", Value::map({{"code_buffer", 1}})}});
  client_.send("step", 2, step, {"now"});
  expect_error(client_.receive(), 2, "invalid_argument",
               "step/action/code_buffer: found 1, expected an index below 1, the number of buffers "
               "in the message");
  client_.send(
      "step", 3,
      Value::map({{"turn", 1}, {"action", Value::map({{"code", "a"}, {"code_buffer", 0}})}}),
      {"now"});
  expect_error(client_.receive(), 3, "invalid_argument",
               "step/action: found both 'code_buffer' and 'code', expected one");
  client_.send("step", 4, Value::map({{"turn", 1}, {"action", Value::map({{"code_buffer", 0}})}}),
               {"now"});
  EXPECT_EQ(client_.receive().kind, wire::ReplyKind::kResult);
  EXPECT_EQ(service_.last_code(), "now");
}

TEST_F(MalformedFrames, RandomBytes_DoNotAffectTheServer) {
  std::random_device device;
  const char* given = std::getenv("HONE_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : device();
  SCOPED_TRACE("HONE_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) {
    return std::uniform_int_distribution<unsigned>(0, n - 1)(random);
  };
  const auto noise = [&](unsigned size_max) {
    std::string bytes(below(size_max), '\0');
    for (char& c : bytes) c = static_cast<char>(below(256));
    return bytes;
  };
  std::vector<std::string> verbs{"nonsense"};
  for (const wire::VerbFacts& verb : wire::AllRequests::kVerbs) verbs.emplace_back(verb.name);
  for (int i = 0; i < 5000; ++i) {
    wire::Frames frames{
        below(10) == 0 ? noise(8) : "hone/1", verbs[below(static_cast<unsigned>(verbs.size()))],
        below(3) == 0 ? noise(40) : header(Value::map({{"id", static_cast<int>(below(50))}})),
        below(2) == 0 ? noise(200) : to_msgpack(TestClient::step_body(noise(20)))};
    // Flip a byte in what is well-formed, too.
    std::string& frame = frames[below(4)];
    if (below(2) == 0 && !frame.empty())
      frame[below(static_cast<unsigned>(frame.size()))] = static_cast<char>(below(256));
    frames.resize(1 + below(6));
    client_.send_frames(frames);
  }
  TestClient good(server_->endpoint());
  good.send_step(1, "now");
  EXPECT_EQ(good.receive().kind, wire::ReplyKind::kResult);
}

}  // namespace
}  // namespace hone
