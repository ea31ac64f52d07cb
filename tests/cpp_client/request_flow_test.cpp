// The life of a request, over a scripted connection and a clock that the test sets.
#include "request_flow.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone {
namespace {

using State = Channel::State;

std::int64_t now_ns = 0;
std::int64_t test_clock() { return now_ns; }

/// Takes every message, and keeps it for the test.
class FakeLink final : public Link {
 public:
  explicit FakeLink(std::vector<wire::Request>& sent) : sent_(sent) {}
  bool send(const Frames& frames) override {
    auto decoded = wire::decode_request(wire::incoming(frames), {});
    sent_.push_back(std::get<wire::Request>(std::move(decoded)));
    return true;
  }
  bool receive(Frames&) override { return false; }
  Event next_event() override { return Event::kNone; }
  std::vector<void*> sockets() override { return {}; }

 private:
  std::vector<wire::Request>& sent_;
};

class RequestFlowTest : public testing::Test {
 protected:
  static constexpr std::int64_t kMs = 1'000'000;
  static constexpr std::int64_t kSecond = 1000 * kMs;

  RequestFlowTest() {
    now_ns = kSecond;
    connect();
  }

  void connect() {
    for (Channel* channel : connection.channels()) {
      channel->connect(std::make_unique<FakeLink>(sent), now_ns);
      channel->enter(State::kReady, now_ns);
    }
  }
  void lose(Channel& channel) { flow.on_connection_lost(channel, channel.lose(now_ns)); }

  RequestPtr submit(const std::string& verb, Value body, double timeout_s = 0) {
    auto request = std::make_shared<Request>();
    request->id = flow.next_id();
    request->verb = verb;
    request->episode = text_or(body, "episode");
    request->turn = int_or(body, "turn", 0);
    request->body = std::move(body);
    request->timeout_s = timeout_s;
    if (timeout_s > 0) request->deadline_ns = now_ns + static_cast<std::int64_t>(timeout_s * 1e9);
    request->done = [this, id = request->id](Reply reply) {
      EXPECT_FALSE(replies.contains(id)) << "answered twice";
      replies[id] = std::move(reply);
    };
    flow.accept(request);
    send_all();
    return request;
  }
  RequestPtr step(std::int64_t turn, double timeout_s = 0) {
    return submit("step", Value::map({{"episode", "e"}, {"turn", turn}}), timeout_s);
  }
  void send_all() {
    for (Channel* channel : connection.channels()) flow.send_waiting(*channel);
  }
  void answer(Channel& channel, std::int64_t id, ReplyKind kind, Value body = Value::map()) {
    flow.handle(channel, {kind, id, std::move(body)});
    send_all();
  }
  void fail(std::int64_t id, const Error& error, bool shutting_down = false) {
    wire::ErrorBody body = wire::error_body(error, 200);
    body.shutting_down = shutting_down;
    answer(connection.main, id, ReplyKind::kError, to_value(body));
  }
  void advance(std::int64_t by_ns) {
    now_ns += by_ns;
    flow.run_timers(now_ns);
    send_all();
  }
  std::string message(std::int64_t id) {
    return replies.contains(id) && replies[id].failure ? replies[id].failure->message : "";
  }
  std::vector<std::string> verbs() const {
    std::vector<std::string> names;
    for (const wire::Request& one : sent) names.push_back(one.verb);
    return names;
  }

  ClientOptions options;
  std::vector<wire::Request> sent;
  Connection connection{"tcp://server:1", "tcp://server:2"};
  ConnectStatus status{"tcp://server:1", false};
  RequestFlow flow{options, connection, status, test_clock};
  std::map<std::int64_t, Reply> replies;
};

TEST_F(RequestFlowTest, Request_Answered_EndsOnce) {
  const RequestPtr request = step(1);
  answer(connection.main, request->id, ReplyKind::kResult, Value::map({{"turn", 1}}));
  answer(connection.main, request->id, ReplyKind::kResult);
  ASSERT_TRUE(replies.contains(request->id));
  EXPECT_EQ(1, int_or(replies[request->id].body, "turn", 0));
}

TEST_F(RequestFlowTest, BusyServer_RetryAfterItsTime) {
  const RequestPtr request = step(1);
  fail(request->id, resource_exhausted("the queue is full"));
  EXPECT_TRUE(replies.empty());
  advance(199 * kMs);
  EXPECT_EQ(1u, sent.size());
  advance(102 * kMs);  // 200 ms, and up to half of it more
  EXPECT_EQ((std::vector<std::string>{"step", "step"}), verbs());
}

TEST_F(RequestFlowTest, GoingAway_WithARequestInFlight_WaitsForItsReplyAndSendsNothingNew) {
  const RequestPtr begun = step(1);
  answer(connection.main, -1, ReplyKind::kGoingAway, Value::map({{"drain_ms", 60'000}}));
  EXPECT_EQ(Channel::State::kLeaving, connection.main.state());
  submit("reset", Value::map());
  EXPECT_EQ((std::vector<std::string>{"step"}), verbs());
  EXPECT_FALSE(connection.main.has_left());
  answer(connection.main, begun->id, ReplyKind::kResult);
  EXPECT_TRUE(replies.contains(begun->id));
  EXPECT_TRUE(connection.main.has_left());
}

TEST_F(RequestFlowTest, BusyServer_RetryBeyondTheDeadline_Fails) {
  const RequestPtr request = step(1, 0.1);
  fail(request->id, resource_exhausted("the queue is full"));
  EXPECT_EQ("the queue is full", message(request->id));
}

TEST_F(RequestFlowTest, Deadline_RequestInFlight_WaitsForTheServersOwnAnswer) {
  const RequestPtr request = step(1, 1);
  advance(kSecond);
  EXPECT_TRUE(replies.empty());
  advance(499 * kMs);
  EXPECT_TRUE(replies.empty());
  advance(kMs);
  EXPECT_EQ("step of episode e, turn 1: no answer within 1000 ms", message(request->id));
}

TEST_F(RequestFlowTest, LostConnection_RequestsAreSentAgainInOrder) {
  const RequestPtr first = submit("describe", Value::map());
  const RequestPtr second = step(1);
  lose(connection.main);
  EXPECT_TRUE(replies.empty());
  sent.clear();
  connect();
  const RequestPtr third = submit("describe", Value::map());
  ASSERT_EQ(3u, sent.size());
  EXPECT_EQ(first->id, sent[0].id);
  EXPECT_EQ(second->id, sent[1].id);
  EXPECT_EQ(third->id, sent[2].id);
}

TEST_F(RequestFlowTest, LostConnections_TooManyForTooLong_Fail) {
  options.reconnect_timeout_s = 3;
  options.connection_losses_max = 3;
  const RequestPtr request = step(1);
  for (int i = 0; i < 3; ++i) {
    lose(connection.main);
    connect();
    send_all();
    now_ns += kSecond;
  }
  EXPECT_TRUE(replies.empty());
  lose(connection.main);
  EXPECT_EQ(
      "step of episode e, turn 1: the connection to tcp://server:1 was lost 4 times within 3.0 s "
      "while it was under way (reconnect_timeout)",
      message(request->id));
}

TEST_F(RequestFlowTest, NoServer_TimeLimitOver_WaitingRequestsFail) {
  lose(connection.main);
  connection.main.note_away(now_ns);
  const RequestPtr request = step(1);
  flow.fail_without_server(connection.main, now_ns + 30 * kSecond);
  EXPECT_EQ("step of episode e, turn 1: no server at tcp://server:1 for 30 s (reconnect_timeout)",
            message(request->id));
}

TEST_F(RequestFlowTest, RequestAskedWhileNoServerIsThere_WaitsAsLongAsOthers) {
  lose(connection.main);
  connection.main.note_away(now_ns);
  now_ns += 100 * kSecond;
  const RequestPtr request = step(1);
  flow.fail_without_server(connection.main, now_ns + 29 * kSecond);
  EXPECT_TRUE(replies.empty());
  EXPECT_EQ(connection.main.next_given_up_ns(options.reconnect_timeout_s), now_ns + 30 * kSecond);
  flow.fail_without_server(connection.main, now_ns + 30 * kSecond);
  EXPECT_EQ("step of episode e, turn 1: no server at tcp://server:1 for 30 s (reconnect_timeout)",
            message(request->id));
}

TEST_F(RequestFlowTest, ServerShutsDown_RequestWaitsForTheNextOne) {
  const RequestPtr request = step(1);
  fail(request->id, unavailable("the server is shutting down"), true);
  EXPECT_TRUE(replies.empty());
  EXPECT_EQ(State::kLeaving, connection.main.state());
  EXPECT_EQ(1u, connection.main.waiting().size());
}

TEST_F(RequestFlowTest, StepGivenUp_NextStepWaitsForItsEndAndItsCancel) {
  const RequestPtr first = step(1);
  answer(connection.main, first->id, ReplyKind::kAccepted);
  flow.give_up(first->id);
  flow.give_up(first->id);
  send_all();
  ASSERT_EQ((std::vector<std::string>{"step", "cancel"}), verbs());
  const std::int64_t cancel = sent[1].id;
  const RequestPtr next = step(1);
  EXPECT_EQ(2u, sent.size());
  fail(first->id, Error{Code::kCancelled, "cancelled by the client"});
  EXPECT_EQ(2u, sent.size());
  answer(connection.control, cancel, ReplyKind::kResult, Value::map({{"cancelled", true}}));
  ASSERT_EQ(3u, sent.size());
  EXPECT_EQ(next->id, sent[2].id);
}

TEST_F(RequestFlowTest, Cancel_OvertookItsStep_IsSentAgainOnceTheServerHasTheStep) {
  const RequestPtr request = step(1);
  flow.give_up(request->id);
  send_all();
  answer(connection.control, sent.back().id, ReplyKind::kResult,
         Value::map({{"cancelled", false}}));
  EXPECT_EQ((std::vector<std::string>{"step", "cancel"}), verbs());
  answer(connection.main, request->id, ReplyKind::kAccepted);
  EXPECT_EQ((std::vector<std::string>{"step", "cancel", "cancel"}), verbs());
}

TEST_F(RequestFlowTest, ResetGivenUp_ItsEpisodeIsClosed) {
  const RequestPtr reset = submit("reset", Value::map({{"key", "k"}}));
  flow.give_up(reset->id);
  EXPECT_EQ("reset: given up", message(reset->id));
  answer(connection.main, reset->id, ReplyKind::kResult,
         Value::map({{"episode", "new"}, {"token", "t"}}));
  ASSERT_EQ((std::vector<std::string>{"reset", "close"}), verbs());
  EXPECT_EQ("new", text_or(sent[1].body, "episode"));
}

TEST_F(RequestFlowTest, ResetSentAgain_ItsEpisodeIsResumedBeforeTheAnswer) {
  const RequestPtr reset = submit("reset", Value::map({{"key", "k"}}));
  lose(connection.main);
  connect();
  send_all();
  answer(connection.main, reset->id, ReplyKind::kResult,
         Value::map({{"episode", "e"}, {"token", "t"}}));
  ASSERT_EQ((std::vector<std::string>{"reset", "reset", "resume"}), verbs());
  EXPECT_TRUE(replies.empty());
  answer(connection.main, sent[2].id, ReplyKind::kResult);
  EXPECT_TRUE(replies[reset->id].ok());
}

TEST_F(RequestFlowTest, LostEpisode_StepFailsWithoutTheServer) {
  connection.roster.lose("e", "episode e is lost: the server was restarted");
  const RequestPtr request = step(1);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ("episode e is lost: the server was restarted", message(request->id));
}

TEST_F(RequestFlowTest, ClientClosed_AllRequestsEnd) {
  const RequestPtr request = step(1);
  flow.finish_all("the client was closed");
  EXPECT_EQ("step of episode e, turn 1: the client was closed", message(request->id));
}

TEST_F(RequestFlowTest, InternalRequest_LostConnection_IsNotSentAgain) {
  std::optional<Reply> reply;
  const RequestPtr ping =
      flow.make_internal("ping", Value::map(), [&](Reply given) { reply = std::move(given); });
  ASSERT_TRUE(connection.main.send(ping, now_ns));
  lose(connection.main);
  ASSERT_TRUE(reply && reply->failure);
  EXPECT_EQ("the connection was lost", reply->failure->message);
  EXPECT_TRUE(connection.main.waiting().empty());
}

}  // namespace
}  // namespace hone
