// CURVE and the allow-list: who comes in, under which name, and with which rights.
#include <sys/stat.h>

#include <fstream>

#include "server/keys_fixture.hpp"
#include "server/peers.hpp"
#include "server/scripted_service.hpp"

namespace hone {
namespace {

using wire::ReplyKind;

Value hello_as(const std::string& name) {
  return Value::map({{"versions", Value::array({"hone/1"})}, {"client", name}});
}

class Curve : public testing::Test {
 protected:
  Curve() {
    keys_.add("trainer");
    AllowedClient monitor;
    monitor.name = "grafana";
    monitor.role = ClientRole::kMonitor;
    keys_.add(std::move(monitor));
    server_ = start_server(service_, keys_.server_options());
  }
  std::unique_ptr<TestClient> client(const std::string& name) {
    return std::make_unique<TestClient>(server_->endpoint(), keys_.client_options(name));
  }
  std::unique_ptr<TestClient> control(const std::string& name) {
    return std::make_unique<TestClient>(server_->control_endpoint(), keys_.client_options(name));
  }

  TestKeys keys_;
  ScriptedService service_;
  std::unique_ptr<Server> server_;
};

TEST_F(Curve, ClientsName_FollowsFromItsKey) {
  const auto trainer = client("trainer");
  const Answer hello = trainer->ask("hello", hello_as("grafana"));
  EXPECT_EQ(hello.text("client"), "trainer");
  EXPECT_EQ(hello.text("role"), "trainer");
  EXPECT_EQ(trainer->ask("reset").text("client"), "trainer");
  const auto looking = control("grafana");
  EXPECT_EQ(looking->ask("hello", hello_as("trainer")).text("client"), "grafana");
}

TEST_F(Curve, ClientWithoutAKey_IsRefusedOnBothEndpoints) {
  for (const std::string& endpoint : {server_->endpoint(), server_->control_endpoint()}) {
    EXPECT_TRUE(RefusedClient(endpoint, TestClient::client_options()).refused());
  }
  EXPECT_TRUE(metric_reaches(*control("trainer"), "handshakes_failed", 2));
}

TEST_F(Curve, UnknownKey_IsRefusedAndCounted) {
  SocketOptions options = keys_.client_options("trainer");
  auto other = make_key_pair();
  ASSERT_TRUE(other.ok());
  options.curve->public_key = other->public_key;
  options.curve->secret_key = other->secret_key;
  for (const std::string& endpoint : {server_->endpoint(), server_->control_endpoint()}) {
    EXPECT_TRUE(RefusedClient(endpoint, options).refused());
  }
  EXPECT_TRUE(metric_reaches(*control("trainer"), "keys_refused", 2));
}

TEST_F(Curve, WrongServerKey_CannotConnect) {
  SocketOptions options = keys_.client_options("trainer");
  options.curve->server_key = make_key_pair()->public_key;
  EXPECT_TRUE(RefusedClient(server_->endpoint(), options).refused());
  EXPECT_TRUE(metric_reaches(*control("trainer"), "handshakes_failed", 1));
  EXPECT_EQ(metric(*control("trainer"), "keys_refused"), 0);
}

TEST_F(Curve, Monitor_ReadsButChangesNothing) {
  const auto looking = client("grafana");
  std::string allowed;
  for (const wire::VerbFacts& verb : wire::AllRequests::kVerbs)
    if (verb.is_read_only) allowed += (allowed.empty() ? "" : ", ") + std::string(verb.name);
  EXPECT_EQ(allowed.find("step"), std::string::npos) << allowed;
  for (const wire::VerbFacts& verb : wire::AllRequests::kVerbs) {
    if (verb.is_read_only) continue;
    expect_error(looking->ask(std::string(verb.name)), 1, "failed_precondition",
                 "client 'grafana' has the role monitor, which may not " + std::string(verb.name) +
                     "; it has " + allowed);
  }
  EXPECT_EQ(looking->ask("describe").kind, ReplyKind::kResult);
  EXPECT_EQ(looking->ask("ping").kind, ReplyKind::kResult);
  const auto at_control = control("grafana");
  EXPECT_EQ(at_control->ask("metrics").kind, ReplyKind::kResult);
  EXPECT_EQ(at_control->ask("health").kind, ReplyKind::kResult);
  EXPECT_EQ(at_control->ask("cancel").text("code"), "failed_precondition");
}

TEST_F(Curve, RevokedClient_IsDisconnectedAndRefused) {
  const auto trainer = client("trainer"), at_control = control("trainer");
  EXPECT_EQ(trainer->ask("ping").kind, ReplyKind::kResult);
  EXPECT_EQ(at_control->ask("ping").kind, ReplyKind::kResult);
  const SocketOptions options = keys_.client_options("trainer");
  ASSERT_TRUE(revoke_client(keys_.folder(), "trainer").ok());
  for (TestClient* connected : {trainer.get(), at_control.get()}) {
    expect_error(connected->ask("ping"), 1, "failed_precondition",
                 "the key of this client, 'trainer', was revoked");
  }
  EXPECT_TRUE(RefusedClient(server_->endpoint(), options).refused());
  EXPECT_EQ(client("grafana")->ask("ping").kind, ReplyKind::kResult);
}

TEST_F(Curve, RevokedClient_GetsNoPendingReply) {
  const auto trainer = client("trainer");
  trainer->send_step(7, "hold");
  EXPECT_EQ(trainer->receive().kind, ReplyKind::kAccepted);
  service_.await_held(1);
  ASSERT_TRUE(revoke_client(keys_.folder(), "trainer").ok());
  trainer->send("ping", 8);
  EXPECT_EQ(trainer->receive().id, 8);
  EXPECT_EQ(service_.release(), 1u);
  trainer->send("ping", 9);
  EXPECT_EQ(trainer->receive().id, 9);  // and not the step's 7
}

TEST_F(Curve, NewClient_MayConnectWithoutARestart) {
  keys_.add("second");
  EXPECT_EQ(client("second")->ask("hello", hello_as("x")).text("client"), "second");
}

TEST_F(Curve, ChangedRights_CountFromTheNextMessage) {
  const auto trainer = client("trainer");
  EXPECT_EQ(trainer->ask("reset").kind, ReplyKind::kResult);
  auto clients = *read_clients(keys_.folder().clients());
  for (AllowedClient& one : clients) one.role = ClientRole::kMonitor;
  std::ofstream(keys_.folder().clients()) << clients_text(clients);
  EXPECT_EQ(trainer->ask("reset").text("code"), "failed_precondition");
}

TEST_F(Curve, BrokenAllowList_ChangesNothing) {
  const auto trainer = client("trainer");
  EXPECT_EQ(trainer->ask("ping").kind, ReplyKind::kResult);
  std::ofstream(keys_.folder().clients()) << "clients: [{name: 7";
  EXPECT_EQ(trainer->ask("ping").kind, ReplyKind::kResult);
  EXPECT_EQ(client("trainer")->ask("ping").kind, ReplyKind::kResult);
  std::filesystem::remove(keys_.folder().clients());
  EXPECT_EQ(client("trainer")->ask("ping").kind, ReplyKind::kResult);
}

TEST_F(Curve, Clients_AreCountedByName) {
  const auto trainer = client("trainer");
  trainer->ask("ping");
  trainer->ask("resume");
  const auto looking = control("grafana");
  const Answer answer = looking->ask("metrics");
  const Value* clients = answer.body.find("metrics")->find("clients");
  const Value* counted = clients->find("trainer");
  ASSERT_NE(counted, nullptr);
  EXPECT_EQ(counted->find("messages")->as_int(), 2);
  EXPECT_EQ(counted->find("answered")->as_int(), 2);
  EXPECT_EQ(counted->find("errors")->as_int(), 1);
  const std::string text =
      looking->ask("metrics", Value::map({{"format", "prometheus"}})).text("text");
  EXPECT_NE(text.find("hone_client_messages_total{client=\"trainer\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE hone_keys_refused_total counter"), std::string::npos);
}

TEST_F(Curve, NonLoopbackAddress_IsServedWithKeys) {
  ServerOptions options = keys_.server_options();
  options.endpoint = "tcp://0.0.0.0:0";
  options.control_endpoint = "tcp://0.0.0.0:0";
  const auto open = start_server(service_, options);
  const std::string port = open->endpoint().substr(open->endpoint().rfind(':'));
  TestClient connected("tcp://127.0.0.1" + port, keys_.client_options("trainer"));
  EXPECT_EQ(connected.ask("ping").kind, ReplyKind::kResult);
}

TEST_F(Curve, Ipc_NeedsAKeyToo) {
  std::string pattern = (std::filesystem::temp_directory_path() / "hone-ipc-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  ServerOptions options = keys_.server_options();
  options.endpoint = "ipc://" + (folder / "hone.sock").string();
  options.control_endpoint.clear();
  {
    const auto local = start_server(service_, options);
    TestClient connected(local->endpoint(), keys_.client_options("trainer"));
    EXPECT_EQ(connected.ask("ping").kind, ReplyKind::kResult);
    EXPECT_TRUE(RefusedClient(local->endpoint(), TestClient::client_options()).refused());
  }
  std::filesystem::remove_all(folder);
}

TEST(CurveStart, MissingServerKey_ErrorNamesTheCommand) {
  const TestKeys keys;
  ScriptedService service;
  const auto server = Server::start(keys.server_options(), service);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().message,
            "key file " + keys.folder().server_key().string() +
                ": no such file or directory; create one with: hone keys new NAME --keys " +
                keys.folder().path.string());
}

TEST(CurveStart, ServersKeyReadableByOthers_IsRefused) {
  const TestKeys keys;
  ASSERT_TRUE(make_server_key(keys.folder()).ok());
  ::chmod(keys.folder().server_key().c_str(), 0644);
  ScriptedService service;
  const auto server = Server::start(keys.server_options(), service);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code, Code::kFailedPrecondition);
  const std::string start =
      "key file " + keys.folder().server_key().string() + ": found mode 0644 of group ";
  EXPECT_EQ(server.error().message.substr(0, start.size()), start);
}

TEST(CurveStart, ServersKey_OfAGroupOfThisProcess_IsReadAsKubernetesMountsIt) {
  const TestKeys keys;
  keys.add("trainer");
  ::chmod(keys.folder().server_key().c_str(), 0440);
  ScriptedService service;
  const auto server = Server::start(keys.server_options(), service);
  EXPECT_TRUE(server.ok()) << server.error().message;
}

TEST(CurveStart, AllowListWritableByOthers_IsRefused) {
  const TestKeys keys;
  keys.add("trainer");
  ::chmod(keys.folder().clients().c_str(), 0666);
  ScriptedService service;
  const auto server = Server::start(keys.server_options(), service);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().message, "allow-list " + keys.folder().clients().string() +
                                        ": other users may write this file; run chmod go-w");
}

TEST(PeersWithKeys, SameRoutingIdWithAnotherKey_IsAnotherClient) {
  const TestKeys keys;
  keys.add("a");
  keys.add("b");
  const std::shared_ptr<const AllowList> allowed = *AllowList::open(keys.folder().clients());
  SocketContext context;
  Metrics metrics;
  const ServerOptions options;
  Peers peers(Door::kMain, Socket::router(context, {}), options, "i-m", metrics, allowed);
  const std::string id("\0abcd", 5);
  const auto first = peers.get(id, keys.pair("a").public_key, 1);
  const auto second = peers.get(id, keys.pair("b").public_key, 2);
  EXPECT_EQ(first->caller.client, "a");
  EXPECT_EQ(second->caller.client, "b");
  EXPECT_NE(first->caller.connection, second->caller.connection);
  EXPECT_NE(first->disconnected_ns, 0);
  EXPECT_EQ(peers.get(id, keys.pair("b").public_key, 3), second);
}

}  // namespace
}  // namespace hone
