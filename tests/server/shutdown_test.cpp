// The end: nothing new, everything under way answered, no reply lost.
#include <future>
#include <set>

#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

using wire::ReplyKind;

/// Waits until the server says that it is draining.
void await_draining(TestClient& control) {
  for (int n = 0; n < 100'000; ++n) {
    if (control.ask("health").text("status") == "draining") return;
  }
  ADD_FAILURE() << "the server does not drain";
}

bool says_shutting_down(const Answer& answer) {
  const Value* said = answer.body.find("shutting_down");
  return said != nullptr && said->as_bool();
}

TEST(Shutdown, StepsInFlight_AreFinishedAndNewOnesRefused) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient client(server->endpoint()), control(server->control_endpoint());
  control.ask("ping");
  client.send_step(1, "hold");
  EXPECT_EQ(client.receive().kind, ReplyKind::kAccepted);
  auto ended = std::async(std::launch::async, [&] { return server->shut_down(60); });
  await_draining(control);
  const Answer announced = client.receive();
  EXPECT_EQ(announced.kind, ReplyKind::kGoingAway);
  EXPECT_EQ(announced.id, -1);
  EXPECT_GT(announced.body.find("drain_ms")->as_int(), 50'000);
  client.send_step(2, "now");
  const Answer refused = client.receive();
  expect_error(refused, 2, "unavailable", "the server is shutting down");
  EXPECT_TRUE(refused.body.find("retryable")->as_bool());
  EXPECT_TRUE(says_shutting_down(refused));
  EXPECT_EQ(refused.body.find("retry_after_ms")->as_int(), 1000);
  EXPECT_GT(refused.body.find("drain_ms")->as_int(), 50'000);
  TestClient late(server->endpoint());
  const Answer turned_away = late.ask("ping");
  expect_error(turned_away, 1, "unavailable",
               "the server is shutting down and takes no new connections");
  EXPECT_TRUE(says_shutting_down(turned_away));
  service.release();
  EXPECT_EQ(client.receive().id, 1);
  EXPECT_TRUE(ended.get());
  EXPECT_TRUE(server->shut_down(0));  // again: the same answer
}

TEST(Shutdown, StepsInFlight_NoReplyIsLost) {
  ScriptedService service;
  auto server = start_server(service);
  std::vector<std::unique_ptr<TestClient>> clients;
  constexpr int kClients = 8, kSteps = 50;
  for (int c = 0; c < kClients; ++c) {
    clients.push_back(std::make_unique<TestClient>(server->endpoint()));
    for (int id = 0; id < kSteps; ++id) clients.back()->send_step(id, "hold", id);
  }
  service.await_held(kClients * kSteps);
  auto ended = std::async(std::launch::async, [&] { return server->shut_down(60); });
  service.release();
  EXPECT_TRUE(ended.get());
  server.reset();
  // The server is gone; every reply is still there to be read.
  for (const auto& client : clients) {
    // A step that is answered before the server got round to it has no `accepted`.
    std::set<std::int64_t> answered;
    while (answered.size() < kSteps) {
      const Answer answer = client->receive();
      if (answer.kind == ReplyKind::kAccepted || answer.kind == ReplyKind::kGoingAway) continue;
      ASSERT_EQ(answer.kind, ReplyKind::kResult);
      ASSERT_TRUE(answered.insert(answer.id).second) << answer.id;
    }
  }
}

TEST(Shutdown, SlowSteps_AreAnsweredUnavailable) {
  ScriptedService service;
  auto server = start_server(service);
  TestClient client(server->endpoint());
  client.send_step(1, "hold");
  EXPECT_EQ(client.receive().kind, ReplyKind::kAccepted);
  EXPECT_FALSE(server->shut_down(0));
  EXPECT_EQ(client.receive().kind, ReplyKind::kGoingAway);
  const Answer cut = client.receive();
  expect_error(cut, 1, "unavailable",
               "the server shut down before the request was done; a turn in flight stays open");
  EXPECT_TRUE(says_shutting_down(cut));
  server.reset();
  service.release();  // its queue is closed
}

TEST(Shutdown, ClientThatNeverReads_DoesNotDelayIt) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.hwm = 1;
  options.linger_s = 0.2;
  auto server = start_server(service, options);
  SocketOptions lazy = TestClient::client_options();
  lazy.hwm = 1;
  TestClient slow(server->endpoint(), lazy), good(server->endpoint());
  for (int id = 0; id < 24; ++id) {
    const wire::Frames frames =
        wire::encode_request({"step", id, {}, TestClient::step_body("big:1048576"), {}});
    while (slow.socket().send(frames) == Socket::Sent::kFull) good.ask("ping");
  }
  EXPECT_FALSE(server->shut_down(1));
}

TEST(Shutdown, NewServer_CanUseTheSameEndpoint) {
  ScriptedService service;
  auto server = start_server(service);
  ServerOptions same = test_options();
  same.endpoint = server->endpoint();
  TestClient client(server->endpoint());
  const std::string first = client.ask("ping").text("incarnation");
  server.reset();
  server = start_server(service, same);
  EXPECT_NE(client.ask("ping").text("incarnation"), first);
}

}  // namespace
}  // namespace hone
