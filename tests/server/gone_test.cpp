// Connections that are gone while their steps are under way.
#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

using wire::ReplyKind;

ServerOptions quick_options() {
  ServerOptions options = test_options();
  options.reap_interval_s = 0.02;
  options.disconnect_grace_s = 0;
  return options;
}

/// The next reply that is no `accepted` and no `progress`.
Answer end_of(TestClient& client) {
  for (;;) {
    Answer answer = client.receive();
    if (answer.kind != ReplyKind::kAccepted && answer.kind != ReplyKind::kProgress) return answer;
  }
}

TEST(Gone, LostConnection_ItsStepsAreCancelled) {
  ScriptedService service;
  auto server = start_server(service, quick_options());
  TestClient stays(server->endpoint());
  const std::string its_connection = stays.ask("reset").text("connection");
  stays.send_step(2, "hold");
  auto leaves = std::make_unique<TestClient>(server->endpoint());
  const std::string connection = leaves->ask("reset").text("connection");
  leaves->send_step(2, "hold");
  service.await_held(2);
  leaves.reset();
  EXPECT_EQ(service.await_left(), std::set<std::string>{connection});
  service.release();
  EXPECT_EQ(end_of(stays).id, 2);
  EXPECT_EQ(service.await_left(), std::set<std::string>{connection});
}

TEST(Gone, LostConnection_StagesAreResentToOtherConnections) {
  ScriptedService service;
  auto server = start_server(service, quick_options());
  TestClient waits(server->endpoint()), builds(server->endpoint());
  waits.send_step(1, "hold", 1);
  EXPECT_EQ(waits.receive().kind, ReplyKind::kAccepted);
  builds.send_step(1, "progress", 2);
  EXPECT_EQ(builds.receive().kind, ReplyKind::kAccepted);
  EXPECT_EQ(builds.receive().text("stage"), "building");
  {
    TestClient passes(server->endpoint());
    passes.ask("ping");
  }
  EXPECT_EQ(waits.receive().text("stage"), "queued");
  EXPECT_EQ(builds.receive().text("stage"), "building");
  service.release();
  EXPECT_EQ(end_of(waits).kind, ReplyKind::kResult);
  EXPECT_EQ(end_of(builds).kind, ReplyKind::kResult);
}

TEST(Gone, WithinTheGrace_StepsGoOn) {
  ScriptedService service;
  ServerOptions options = quick_options();
  options.disconnect_grace_s = 3600;
  auto server = start_server(service, options);
  auto leaves = std::make_unique<TestClient>(server->endpoint());
  leaves->send_step(1, "hold");
  service.await_held(1);
  leaves.reset();
  TestClient control(server->control_endpoint());
  // Its end is noticed once something cannot be sent to it.
  std::int64_t dropped = 0;
  for (int n = 0; n < 100'000 && dropped == 0; ++n) {
    dropped = control.ask("metrics").body.find("metrics")->find("replies_dropped")->as_int();
  }
  EXPECT_GT(dropped, 0);
  EXPECT_TRUE(service.left().empty());
  EXPECT_EQ(service.release(), 1u);
}

}  // namespace
}  // namespace hone
