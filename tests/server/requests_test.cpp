// Requests and their replies: pipelining, order, ids, deadlines, cancel, quotas, hello, and the
// verbs of the server itself.
#include <algorithm>
#include <set>

#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

using wire::ReplyKind;

class Requests : public testing::Test {
 protected:
  ScriptedService service_;
  std::unique_ptr<Server> server_ = start_server(service_);
  TestClient client_{server_->endpoint()};
  TestClient control_{server_->control_endpoint()};
};

TEST_F(Requests, Hello_HasTheServersCapabilities) {
  const Answer answer = client_.ask(
      "hello", Value::map({{"versions", Value::array({"hone/0", "hone/1"})}, {"client", "t/1"}}));
  ASSERT_EQ(answer.kind, ReplyKind::kResult);
  EXPECT_EQ(answer.text("version"), "hone/1");
  EXPECT_EQ(answer.text("server"), "hone 0.2.0");
  EXPECT_EQ(answer.text("incarnation"), server_->incarnation());
  EXPECT_EQ(answer.text("control"), server_->control_endpoint());
  EXPECT_EQ(answer.body.find("lease_s")->as_double(), 60);
  EXPECT_EQ(answer.body.find("limits")->find("frames")->as_int(), 16);
  EXPECT_EQ(answer.body.find("limits")->find("in_flight")->as_int(), 4096);
  EXPECT_EQ(answer.body.find("environments")->as_array().front().as_string(), "scripted");
}

TEST_F(Requests, HelloWithoutACommonVersion_NamesBothVersions) {
  const Value body = Value::map({{"versions", Value::array({"hone/2", "hone/3"})}});
  expect_error(client_.ask("hello", body), 1, "invalid_argument",
               "versions: found [hone/2, hone/3], this server speaks [hone/1]");
  expect_error(client_.ask("hello"), 1, "invalid_argument", "hello: versions: missing");
  expect_error(client_.ask("hello", Value::map({{"version", "hone/1"}})), 1, "invalid_argument",
               "hello: unknown key 'version'; did you mean 'versions'?");
}

TEST_F(Requests, ClientsName_ReachesTheService) {
  EXPECT_EQ(client_.ask("reset").text("client").rfind(server_->incarnation() + "-m", 0), 0u);
  client_.ask("hello", Value::map({{"versions", Value::array({"hone/1"})}, {"client", "t/1"}}));
  EXPECT_EQ(client_.ask("reset").text("client"), "t/1");
}

TEST_F(Requests, Restart_HasAnotherIncarnation) {
  ScriptedService service;
  EXPECT_NE(start_server(service)->incarnation(), server_->incarnation());
}

TEST_F(Requests, Step_IsAcceptedThenAnswered) {
  client_.send_step(7, "progress", 3);
  EXPECT_EQ(client_.receive().kind, ReplyKind::kAccepted);
  const Answer progress = client_.receive();
  EXPECT_EQ(progress.kind, ReplyKind::kProgress);
  EXPECT_EQ(progress.text("stage"), "building");
  service_.await_held(1);
  service_.release();
  const Answer result = client_.receive();
  EXPECT_EQ(result.kind, ReplyKind::kResult);
  EXPECT_EQ(result.id, 7);
  EXPECT_EQ(result.verb, "step");
  EXPECT_EQ(result.body.find("turn")->as_int(), 3);
}

TEST_F(Requests, StepAnsweredAtOnce_IsNotAccepted) {
  client_.send_step(7, "now");
  EXPECT_EQ(client_.receive().kind, ReplyKind::kResult);
}

TEST_F(Requests, Replies_LeaveInAnyOrder) {
  for (int id = 0; id < 3; ++id) client_.send_step(id, "hold", id);
  service_.await_held(3);
  client_.send_step(3, "now");
  std::vector<std::int64_t> order;
  while (order.size() < 4) {
    const Answer answer = client_.receive();
    if (answer.kind != ReplyKind::kResult) continue;
    order.push_back(answer.id);
    if (answer.id == 3) service_.release();  // newest first
  }
  EXPECT_EQ(order, (std::vector<std::int64_t>{3, 2, 1, 0}));
}

TEST_F(Requests, ThousandsPipelined_AreEachAnsweredOnce) {
  constexpr std::int64_t kRequests = 4000;
  for (std::int64_t id = 0; id < kRequests; ++id)
    client_.send_step(id, id % 50 == 0 ? "thread" : "now");
  std::set<std::int64_t> answered;
  while (answered.size() < kRequests) {
    const Answer answer = client_.receive();
    if (answer.kind == ReplyKind::kAccepted) continue;
    ASSERT_EQ(answer.kind, ReplyKind::kResult);
    ASSERT_TRUE(answered.insert(answer.id).second) << answer.id;
  }
}

TEST_F(Requests, IdInFlight_CannotBeUsedAgain) {
  client_.send_step(5, "hold");
  EXPECT_EQ(client_.receive().kind, ReplyKind::kAccepted);
  client_.send_step(5, "now");
  // Answered to -1: to 5 it would look like the end of the first.
  expect_error(client_.receive(), -1, "invalid_argument",
               "header/id: 5 is already in flight; use a new id for each request");
  client_.send_frames({"hone/1", "step", to_msgpack(Value::map({{"id", 5}})), "\xc1"});
  EXPECT_EQ(client_.receive().id, -1);
  service_.release();
  EXPECT_EQ(client_.receive().id, 5);
  client_.send_step(5, "now");
  EXPECT_EQ(client_.receive().kind, ReplyKind::kResult);
}

TEST_F(Requests, CancelOnControl_IsAnsweredWhileTheWorkersAreBusy) {
  client_.send_step(9, "hold", 4);
  EXPECT_EQ(client_.receive().kind, ReplyKind::kAccepted);
  for (int id = 100; id < 300; ++id) client_.send("describe", id, Value::map({{"hold", true}}));
  service_.await_at_gate(2);
  const Answer cancelled = control_.ask("cancel", Value::map({{"episode", "e"}, {"turn", 4}}));
  EXPECT_TRUE(cancelled.body.find("cancelled")->as_bool());
  EXPECT_TRUE(service_.last_cancel_by_control());
  expect_error(client_.receive(), 9, "cancelled", "the step was cancelled");
  service_.open_gate();
  for (int n = 0; n < 200; ++n) EXPECT_EQ(client_.receive().kind, ReplyKind::kResult);
}

TEST_F(Requests, Deadline_ReachesTheServiceAndIsKept) {
  client_.send("step", 1, TestClient::step_body("hold"), {}, 20);
  EXPECT_EQ(client_.receive().kind, ReplyKind::kAccepted);
  EXPECT_GT(service_.last_deadline_s(), 0);
  EXPECT_LE(service_.last_deadline_s(), 0.020);
  // The service does nothing about it: the server answers in its place.
  expect_error(client_.receive(), 1, "deadline_exceeded",
               "step: not done by its deadline; send the same request again");
  service_.release();  // too late: no client waits
  client_.send_step(1, "now");
  EXPECT_EQ(client_.receive().kind, ReplyKind::kResult);
  const Answer metrics = control_.ask("metrics");
  EXPECT_EQ(metrics.body.find("metrics")->find("deadlines_enforced")->as_int(), 1);
  EXPECT_EQ(metrics.body.find("metrics")->find("late_ends")->as_int(), 1);
}

TEST_F(Requests, Ping_RenewsLeases) {
  const Answer answer = client_.ask("ping", Value::map({{"episodes", Value::array({"a", "b"})}}));
  EXPECT_EQ(answer.text("incarnation"), server_->incarnation());
  EXPECT_EQ(service_.renewed(), (std::vector<std::string>{"a", "b"}));
  expect_error(client_.ask("ping", Value::map({{"episode", "a"}})), 1, "invalid_argument",
               "ping: unknown key 'episode'; did you mean 'episodes'?");
}

TEST_F(Requests, InternalError_HasClassInfra) {
  client_.send_step(1, "fail");
  const Answer answer = client_.receive();
  expect_error(answer, 1, "internal", "the script says so");
  EXPECT_EQ(answer.text("class"), "infra");
  EXPECT_FALSE(answer.body.find("retryable")->as_bool());
  EXPECT_TRUE(answer.body.find("retry_after_ms")->is_nil());
}

TEST_F(Requests, ClientsOwnRoutingId_IsRefused) {
  SocketOptions options = TestClient::client_options();
  options.routing_id = "chosen";
  TestClient named(server_->endpoint(), options);
  expect_error(named.ask("ping"), 1, "invalid_argument",
               "connection: found a routing id of the client's own, expected none; do not set "
               "ZMQ_ROUTING_ID");
}

TEST(Quotas, InFlightPerConnection_IsBounded) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.in_flight_max = 2;
  auto server = start_server(service, options);
  TestClient client(server->endpoint()), other(server->endpoint());
  client.send_step(1, "hold", 1);
  client.send_step(2, "hold", 2);
  EXPECT_EQ(client.receive().kind, ReplyKind::kAccepted);
  EXPECT_EQ(client.receive().kind, ReplyKind::kAccepted);
  client.send_step(3, "now");
  const Answer busy = client.receive();
  expect_error(busy, 3, "resource_exhausted",
               "this connection has 2 requests in flight, at most 2 allowed");
  EXPECT_EQ(busy.text("class"), "capacity");
  EXPECT_TRUE(busy.body.find("retryable")->as_bool());
  EXPECT_GE(busy.body.find("retry_after_ms")->as_int(), 200);
  other.send_step(3, "now");
  EXPECT_EQ(other.receive().kind, ReplyKind::kResult);
  service.release();
}

TEST(Quotas, FullQueue_AnswersBusy) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.queue_max = 3;
  options.workers = 1;
  options.reap_interval_s = 3600;
  auto server = start_server(service, options);
  TestClient client(server->endpoint());
  const Value hold = Value::map({{"hold", true}});
  client.send("describe", 0, hold);
  service.await_at_gate(1);
  for (int id = 1; id <= 4; ++id) client.send("describe", id, hold);
  const Answer busy = client.receive();
  expect_error(busy, 4, "resource_exhausted", "the queue of 3 requests is full");
  TestClient control(server->control_endpoint());
  EXPECT_EQ(control.ask("metrics").body.find("metrics")->find("busy")->as_int(), 1);
  EXPECT_GT(busy.body.find("retry_after_ms")->as_int(), 0);
  service.open_gate();
  for (int n = 0; n < 4; ++n) EXPECT_EQ(client.receive().kind, ReplyKind::kResult);
}

TEST(Quotas, DeadlinePassedInTheQueue_RequestFails) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.workers = 1;
  auto server = start_server(service, options);
  TestClient client(server->endpoint());
  client.send("describe", 0, Value::map({{"hold", true}}));
  service.await_at_gate(1);
  client.send("reset", 1, Value::map(), {}, 1);
  expect_error(client.receive(), 1, "deadline_exceeded",
               "reset: not done by its deadline; send the same request again");
  service.open_gate();
  EXPECT_EQ(client.receive().id, 0);
}

TEST(Quotas, Connections_AreBounded) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.connections_max = 1;
  auto server = start_server(service, options);
  TestClient first(server->endpoint()), second(server->endpoint());
  first.send_step(1, "hold");
  EXPECT_EQ(first.receive().kind, ReplyKind::kAccepted);
  expect_error(second.ask("ping"), 1, "resource_exhausted",
               "the server has 1 busy connections, at most 1 allowed");
  service.release();
  EXPECT_EQ(first.receive().kind, ReplyKind::kResult);
  EXPECT_EQ(second.ask("ping").kind, ReplyKind::kResult);  // in the place of one that is idle
}

TEST(OneEndpoint, NoControlEndpoint_HealthIsServedByTheOnlyEndpoint) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.control_endpoint.clear();
  auto server = start_server(service, options);
  TestClient client(server->endpoint());
  EXPECT_EQ(client.ask("health").text("status"), "serving");
  const Answer hello = client.ask("hello", Value::map({{"versions", Value::array({"hone/1"})}}));
  EXPECT_TRUE(hello.body.find("control")->is_nil());
}

}  // namespace
}  // namespace hone
