// TestClient: one DEALER that speaks hone/1, or anything else that a test wants to send.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/value.hpp"
#include "server/server.hpp"
#include "server/socket.hpp"
#include "wire/message.hpp"

namespace hone {

inline constexpr long kPatienceMs =
    30'000;  ///< bounds a test that fails; one that passes never waits for it

/// A decoded reply.
struct Answer {
  wire::ReplyKind kind = wire::ReplyKind::kResult;
  std::int64_t id = -2;
  std::string verb;
  Value body;

  std::string text(std::string_view key) const {
    const Value* found = body.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : "";
  }
};

class TestClient {
 public:
  explicit TestClient(const std::string& endpoint, SocketOptions options = client_options())
      : socket_(Socket::dealer(context_, options)) {
    EXPECT_TRUE(socket_.connect(endpoint).ok());
  }

  static SocketOptions client_options() {
    SocketOptions options;
    options.frame_bytes_max = 256u << 20;
    options.hwm = 100'000;
    options.linger_ms = 0;
    options.heartbeat_s = 0;
    return options;
  }

  void send(const std::string& verb, std::int64_t id, Value body = Value::map(),
            std::vector<std::string> buffers = {}, std::optional<std::int64_t> deadline_ms = {}) {
    send_frames(wire::encode_request({verb, id, deadline_ms, std::move(body), std::move(buffers)}));
  }
  void send_frames(const wire::Frames& frames) {
    ASSERT_EQ(socket_.send(frames), Socket::Sent::kYes);
  }
  void send_step(std::int64_t id, const std::string& code, std::int64_t turn = 1) {
    send("step", id, step_body(code, turn));
  }
  static Value step_body(const std::string& code, std::int64_t turn = 1) {
    return Value::map({{"episode", "e"}, {"turn", turn}, {"action", Value::map({{"code", code}})}});
  }

  /// The next reply. Fails the test when none comes.
  Answer receive() {
    wire::Frames frames;
    if (!socket_.receive(frames, kPatienceMs)) {
      ADD_FAILURE() << "no reply";
      return {};
    }
    wire::Limits limits;
    limits.codec.bytes_max = 1u << 30;
    auto reply = wire::decode_reply(std::move(frames), limits);
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    auto body = from_msgpack(reply->body, limits.codec);
    EXPECT_TRUE(body.ok()) << body.error().message;
    return {reply->kind, reply->id, reply->verb, std::move(*body)};
  }
  Answer ask(const std::string& verb, Value body = Value::map()) {
    send(verb, 1, std::move(body));
    return receive();
  }
  Socket& socket() { return socket_; }

 private:
  SocketContext context_;
  Socket socket_;
};

/// Expects an error reply with this code and message.
inline void expect_error(const Answer& answer, std::int64_t id, std::string_view code,
                         std::string_view message) {
  EXPECT_EQ(answer.kind, wire::ReplyKind::kError);
  EXPECT_EQ(answer.id, id);
  EXPECT_EQ(answer.text("code"), code);
  EXPECT_EQ(answer.text("message"), message);
  ASSERT_NE(answer.body.find("reward_valid"), nullptr);
  EXPECT_FALSE(answer.body.find("reward_valid")->as_bool());
}

/// Listens on free loopback ports.
inline ServerOptions test_options() {
  ServerOptions options;
  options.endpoint = "tcp://127.0.0.1:0";
  options.control_endpoint = "tcp://127.0.0.1:0";
  return options;
}

inline std::unique_ptr<Server> start_server(EpisodeService& service,
                                            ServerOptions options = test_options()) {
  auto server = Server::start(std::move(options), service);
  if (!server) throw std::runtime_error(server.error().message);
  return std::move(*server);
}

}  // namespace hone
