// A client that never reads is given up within limits, without an effect on others.
#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

using wire::ReplyKind;

/// Reads as little as a client can.
SocketOptions lazy() {
  SocketOptions options = TestClient::client_options();
  options.hwm = 1;
  return options;
}

std::int64_t metric(Server& server, std::string_view name) {
  TestClient control(server.control_endpoint());
  const Answer answer = control.ask("metrics");
  const Value* found = answer.body.find("metrics")->find(name);
  return found != nullptr ? found->as_int() : -1;
}

class SlowClient : public testing::Test {
 protected:
  SlowClient() {
    options_.outbox_bytes_max = 8u << 20;
    options_.hwm = 4;
    options_.linger_s = 0.1;
    server_ = start_server(service_, options_);
  }

  /// Asks for 64 MiB of replies in a dealer that does not read, a few at a time, so that its own
  /// queue takes them.
  void ask_for_64_mib(TestClient& client) {
    TestClient good(server_->endpoint());
    for (int id = 0; id < 64; ++id) {
      const wire::Frames frames =
          wire::encode_request({"step", id, {}, TestClient::step_body("big:1048576"), {}});
      while (client.socket().send(frames) == Socket::Sent::kFull) good.ask("ping");
      good.send_step(id, "now");
      EXPECT_EQ(good.receive().kind, ReplyKind::kResult);
    }
  }

  ServerOptions options_ = test_options();
  ScriptedService service_;
  std::unique_ptr<Server> server_;
};

TEST_F(SlowClient, ClientThatNeverReads_IsDroppedAndOthersServed) {
  TestClient slow(server_->endpoint(), lazy());
  ask_for_64_mib(slow);
  TestClient good(server_->endpoint());
  for (int n = 0; n < 100'000 && metric(*server_, "connections_stalled") == 0; ++n) {
    EXPECT_EQ(good.ask("ping").kind, ReplyKind::kResult);
  }
  EXPECT_EQ(metric(*server_, "connections_stalled"), 1);
  EXPECT_GE(metric(*server_, "replies_dropped"), 8);
  EXPECT_EQ(metric(*server_, "outbox_bytes"), 0);
}

TEST_F(SlowClient, ClientThatReadsLate_IsToldOfLostReplies) {
  TestClient slow(server_->endpoint(), lazy());
  ask_for_64_mib(slow);
  TestClient good(server_->endpoint());
  for (int n = 0; n < 100'000 && metric(*server_, "connections_stalled") == 0; ++n)
    good.ask("ping");
  // Read what ZeroMQ still holds; then ask again.
  wire::Frames frames;
  for (int n = 0; n < 64 && slow.socket().receive(frames, 200); ++n) {
  }
  slow.send("ping", 99);
  Answer answer = slow.receive();
  for (int n = 0; n < 64 && answer.id != 99; ++n) answer = slow.receive();  // skips late replies
  expect_error(
      answer, 99, "unavailable",
      "replies to this connection were dropped because it did not read them; connect again and "
      "resume");
}

TEST_F(SlowClient, ClientThatReadsWithinLimits_GetsAllReplies) {
  TestClient slow(server_->endpoint(), lazy());
  constexpr int kReplies = 16;  // more than ZeroMQ holds, less than the outbox's limit
  for (int id = 0; id < kReplies; ++id) {
    const wire::Frames frames =
        wire::encode_request({"step", id, {}, TestClient::step_body("big:400000"), {}});
    TestClient good(server_->endpoint());
    while (slow.socket().send(frames) == Socket::Sent::kFull) good.ask("ping");
  }
  for (int id = 0; id < kReplies; ++id) {
    const Answer answer = slow.receive();
    EXPECT_EQ(answer.kind, ReplyKind::kResult);
    EXPECT_EQ(answer.id, id);
  }
  EXPECT_EQ(metric(*server_, "replies_dropped"), 0);
}

TEST_F(SlowClient, ClientThatVanishes_AffectsNoOtherClient) {
  for (int n = 0; n < 20; ++n) {
    TestClient leaving(server_->endpoint());
    leaving.send_step(1, "hold", n);
    EXPECT_EQ(leaving.receive().kind, ReplyKind::kAccepted);
  }
  service_.await_held(20);
  EXPECT_EQ(service_.release(), 20u);
  TestClient good(server_->endpoint());
  good.send_step(1, "now");
  EXPECT_EQ(good.receive().kind, ReplyKind::kResult);
  EXPECT_EQ(metric(*server_, "in_flight"), 1);  // the question itself
}

}  // namespace
}  // namespace hone
