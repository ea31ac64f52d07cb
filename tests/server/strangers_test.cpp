// Strangers on the port: connections that say nothing, or garbage, or the beginning of something,
// while a client with a key works. Counted, never timed.
#include "server/strangers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <deque>
#include <random>

#include "server/keys_fixture.hpp"
#include "server/scripted_service.hpp"

namespace hone {
namespace {

/// A TCP connection without ZeroMQ.
class RawConnection {
 public:
  explicit RawConnection(const std::string& endpoint)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  bool connected() const { return connected_; }
  bool send(const std::string& bytes) {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// Reads until the server hangs up; false: it did not within the test's patience.
  bool hung_up() {
    char bytes[4096];
    for (;;) {
      pollfd waiting{fd_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, static_cast<int>(kPatienceMs)) <= 0) return false;
      if (::recv(fd_.get(), bytes, sizeof bytes, 0) <= 0) return true;
    }
  }

 private:
  UniqueFd fd_;
  bool connected_ = false;
};

/// What a ZMTP 3.0 peer says first.
std::string greeting(const std::string& mechanism) {
  std::string bytes("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0", 12);
  bytes += mechanism + std::string(20 - mechanism.size(), '\0');
  return bytes + std::string(32, '\0');
}

class OnThePort : public testing::Test {
 protected:
  void start(ServerOptions options) { server_ = start_server(service_, std::move(options)); }
  void start_with_keys(int handshake_ms = 5000) {
    keys_.add("trainer");
    ServerOptions options = keys_.server_options();
    options.handshake_ms = handshake_ms;
    start(std::move(options));
  }
  std::unique_ptr<TestClient> trainer() {
    return std::make_unique<TestClient>(server_->endpoint(), keys_.client_options("trainer"));
  }
  std::unique_ptr<TestClient> control() {
    return std::make_unique<TestClient>(server_->control_endpoint(),
                                        keys_.client_options("trainer"));
  }

  TestKeys keys_;
  ScriptedService service_;
  std::unique_ptr<Server> server_;
};

/// As many descriptors as this process may have; how many it then has.
std::size_t raise_descriptors() {
  rlimit limit{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  return static_cast<std::size_t>(limit.rlim_cur);
}

TEST_F(OnThePort, TenThousandSilentConnections_ClientsAreServed) {
  constexpr std::size_t kSilent = 10'000;
  if (const std::size_t most = raise_descriptors(); most < kSilent + 1000) {
    GTEST_SKIP() << kSilent << " connections need more than " << most << " descriptors";
  }
  start_with_keys();
  const auto before = trainer(), watching = control();
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (std::size_t n = 0; n < kSilent; ++n) {
    silent.push_back(std::make_unique<RawConnection>(server_->endpoint()));
    ASSERT_TRUE(silent.back()->connected()) << n;
    // Every third is a slow one: a byte of a greeting, and then nothing for ever.
    if (n % 3 == 0) {
      EXPECT_TRUE(silent.back()->send("\xff")) << n;
    }
    if (n % 500 == 0) {
      EXPECT_EQ(before->ask("ping").kind, wire::ReplyKind::kResult) << n;
    }
    if (n % 2000 == 1999) {
      EXPECT_EQ(trainer()->ask("ping").kind, wire::ReplyKind::kResult) << n;
    }
  }
  // At most 256 may wait; of the others the oldest are hung up, whenever the next comes.
  EXPECT_TRUE(silent.front()->hung_up());
  EXPECT_TRUE(metric_reaches(*watching, "hung_up", static_cast<std::int64_t>(kSilent) - 256 - 64));
  EXPECT_LE(metric(*watching, "sockets"), 256 + 64);
  EXPECT_EQ(before->ask("ping").kind, wire::ReplyKind::kResult);
}

TEST_F(OnThePort, WithoutKeys_SilentConnectionsAreClosed) {
  ServerOptions options = test_options();
  options.strangers_max = 4;
  start(options);
  TestClient client(server_->endpoint()), watching(server_->control_endpoint());
  EXPECT_EQ(client.ask("ping").kind, wire::ReplyKind::kResult);
  EXPECT_EQ(watching.ask("ping").kind, wire::ReplyKind::kResult);
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (int n = 0; n < 16; ++n) {
    silent.push_back(std::make_unique<RawConnection>(server_->endpoint()));
  }
  for (std::size_t n = 0; n < 12; ++n) EXPECT_TRUE(silent[n]->hung_up()) << n;
  EXPECT_EQ(client.ask("ping").kind, wire::ReplyKind::kResult);
  // Another program's client may still look for a server that had this port: one more stranger.
  EXPECT_TRUE(metric_reaches(watching, "hung_up", 12));
  EXPECT_LT(metric(watching, "hung_up"), 16);
}

TEST_F(OnThePort, ABurstOfClientsWithoutKeys_IsAnsweredToTheLast) {
  constexpr std::size_t kClients = 4096, kOfContext = 512;
  // Each has its own end, the server's, and a descriptor that wakes its thread.
  if (const std::size_t most = raise_descriptors(); most < 4 * kClients) {
    GTEST_SKIP() << kClients << " clients need more than " << most << " descriptors";
  }
  start(test_options());
  std::deque<SocketContext> contexts;
  std::vector<Socket> clients;
  for (std::size_t n = 0; n < kClients; ++n) {
    if (n % kOfContext == 0) contexts.emplace_back();
    clients.push_back(Socket::dealer(contexts.back(), TestClient::client_options()));
    ASSERT_TRUE(clients.back().connect(server_->endpoint()).ok());
    ASSERT_EQ(clients.back().send(wire::encode_request({"ping", 1, {}, Value::map(), {}})),
              Socket::Sent::kYes);
  }
  std::size_t answered = 0;
  wire::Frames frames;
  for (Socket& client : clients) {
    if (!client.receive(frames, kPatienceMs)) break;
    if (frames.at(1) == "result") ++answered;
  }
  EXPECT_EQ(answered, kClients);
}

TEST_F(OnThePort, MoreConnectionsThanAreServed_AreToldTheLimit) {
  ServerOptions options = test_options();
  options.sockets_max = 18;  // 16 are served
  start(options);
  TestClient watching(server_->control_endpoint());
  std::vector<std::unique_ptr<TestClient>> served;
  for (int n = 1; n < 16; ++n) {
    served.push_back(std::make_unique<TestClient>(server_->endpoint()));
    EXPECT_EQ(served.back()->ask("ping").kind, wire::ReplyKind::kResult);
  }
  TestClient late(server_->endpoint());
  EXPECT_TRUE(metric_reaches(watching, "sockets", 17));
  const Answer told = late.ask("ping");
  EXPECT_EQ(told.text("code"), "resource_exhausted");
  EXPECT_NE(told.text("message").find(" connections, at most 16"), std::string::npos)
      << told.text("message");
  EXPECT_EQ(served.front()->ask("ping").kind, wire::ReplyKind::kResult);
  served.clear();
  Answer again = late.ask("ping");
  for (int n = 0; n < 100'000 && again.kind != wire::ReplyKind::kResult; ++n) {
    again = late.ask("ping");
  }
  EXPECT_EQ(again.kind, wire::ReplyKind::kResult) << "there is room again";
}

TEST_F(OnThePort, UnfinishedHandshake_IsClosed) {
  start_with_keys(100);
  RawConnection silent(server_->endpoint()), half(server_->endpoint()), loris(server_->endpoint());
  EXPECT_TRUE(half.send(greeting("CURVE")));
  // A byte now and then keeps nothing open: the whole handshake has its time, not each byte.
  const std::string slowly = greeting("CURVE");
  for (const char byte : slowly.substr(0, 8)) EXPECT_TRUE(loris.send(std::string(1, byte)));
  EXPECT_TRUE(silent.hung_up());
  EXPECT_TRUE(half.hung_up());
  EXPECT_TRUE(loris.hung_up());
  EXPECT_EQ(trainer()->ask("ping").kind, wire::ReplyKind::kResult);
}

TEST_F(OnThePort, Garbage_IsClosedAndTheNextClientServed) {
  start_with_keys(200);
  std::mt19937_64 random(20261121);
  for (int n = 0; n < 60; ++n) {
    RawConnection raw(server_->endpoint());
    std::string bytes(static_cast<std::size_t>(random() % 700), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // A third garbage from the start, a third after a greeting, a third inside a HELLO command.
    if (n % 3 == 1) bytes = greeting("CURVE") + bytes;
    if (n % 3 == 2) {
      bytes = greeting("CURVE") + std::string("\x04\xc8\x05HELLO\x01\0", 10) + bytes.substr(0, 192);
      bytes.resize(64 + 2 + 200, 'x');
    }
    static_cast<void>(raw.send(bytes));
    EXPECT_TRUE(raw.hung_up()) << n;
  }
  EXPECT_EQ(trainer()->ask("ping").kind, wire::ReplyKind::kResult);
  EXPECT_EQ(metric(*control(), "keys_refused"), 0);
}

/// Passes bytes between a client and the server, and keeps what the client said.
class Recorder {
 public:
  explicit Recorder(const std::string& server) : server_(server) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~Recorder() { join(); }
  const std::string& endpoint() const { return endpoint_; }
  /// After the client has gone: what it said.
  std::string join() {
    if (thread_.joinable()) thread_.join();
    return said_;
  }

 private:
  void run() {
    const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
    const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(server_.substr(server_.rfind(':') + 1))));
    if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return;
    char bytes[4096];
    for (;;) {
      pollfd ends[2] = {{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}};
      if (::poll(ends, 2, static_cast<int>(kPatienceMs)) <= 0) return;
      for (int from = 0; from < 2; ++from) {
        if (ends[from].revents == 0) continue;
        const ssize_t n = ::recv(ends[from].fd, bytes, sizeof bytes, 0);
        if (n <= 0) return;
        if (from == 0) said_.append(bytes, static_cast<std::size_t>(n));
        static_cast<void>(
            ::send(ends[1 - from].fd, bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL));
      }
    }
  }

  const std::string server_;
  UniqueFd listener_;
  std::string endpoint_, said_;
  std::thread thread_;
};

TEST_F(OnThePort, ReplayedHandshake_IsRefused) {
  start_with_keys();
  std::string said;
  {
    Recorder recorder(server_->endpoint());
    {
      TestClient client(recorder.endpoint(), keys_.client_options("trainer"));
      EXPECT_EQ(client.ask("reset").text("client"), "trainer");
    }
    said = recorder.join();
  }
  ASSERT_GT(said.size(), 500u);
  const auto watching = control();
  const std::int64_t before = metric(*watching, "messages_received");
  RawConnection again(server_->endpoint());
  EXPECT_TRUE(again.send(said));
  EXPECT_TRUE(again.hung_up());  // the server's half of the session is another one
  EXPECT_EQ(metric(*watching, "messages_received"), before + 1);  // the question itself
  EXPECT_TRUE(metric_reaches(*watching, "handshakes_failed", 1));
}

TEST_F(OnThePort, FloodingClient_DoesNotDelayAnother) {
  keys_.add("flooder");
  start_with_keys();
  TestClient flooder(server_->endpoint(), keys_.client_options("flooder"));
  const auto client = trainer();
  EXPECT_EQ(client->ask("ping").kind, wire::ReplyKind::kResult);
  constexpr int kFlood = 20'000, kAsked = 20;
  flooder.send_step(kFlood, "block");  // the server stands still while both send
  service_.await_at_gate(1);
  for (int n = 0; n < kFlood; ++n) flooder.send("cancel", n, Value::map({{"turn", -1}}));
  for (int n = 0; n < kAsked; ++n) client->send("cancel", n, Value::map({{"turn", -2}}));
  service_.open_gate();
  for (int n = 0; n < kAsked; ++n) EXPECT_EQ(client->receive().kind, wire::ReplyKind::kResult);
  for (int n = 0; n <= kFlood; ++n) EXPECT_EQ(flooder.receive().kind, wire::ReplyKind::kResult);
  // Connections take turns, so that about as many of the flood come before the other's last as it
  // asked, and not the 20,000 that were sent first. The bound leaves room for what was still on its
  // way when the server went on.
  EXPECT_LT(service_.cancels_before_last(-1, -2), kFlood / 4);
}

TEST(Strangers, OverTheLimit_OldestSilentConnectionIsClosed) {
  std::vector<int> hung_up;
  std::vector<int> speaking{1};
  Strangers strangers(
      {100, 2},
      [&](int fd) { return std::find(speaking.begin(), speaking.end(), fd) == speaking.end(); },
      [&](int fd, const std::string&) { hung_up.push_back(fd); });
  for (int fd = 1; fd <= 5; ++fd) strangers.accepted(fd, "e");
  EXPECT_EQ(hung_up, (std::vector<int>{2, 3}));
  EXPECT_EQ(strangers.open(), 5u);  // until they are gone
  strangers.gone(2);
  strangers.accepted(2, "e");  // the number comes again, as another connection
  EXPECT_EQ(hung_up, (std::vector<int>{2, 3, 4}));
  strangers.accepted(6, "e");
  strangers.gone(2);
  strangers.accepted(7, "e");
  EXPECT_EQ(hung_up, (std::vector<int>{2, 3, 4, 5}));  // 2 was gone before its turn came
}

TEST(Strangers, OverTheTotalLimit_NewestConnectionIsClosed) {
  std::vector<int> hung_up;
  Strangers strangers(
      {2, 10}, [](int) { return true; },
      [&](int fd, const std::string&) { hung_up.push_back(fd); });
  for (int fd = 1; fd <= 3; ++fd) strangers.accepted(fd, "e");
  EXPECT_EQ(hung_up, std::vector<int>{3});
}

TEST(Strangers, OtherDescriptor_IsNotShutDown) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  const std::string endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  RawConnection raw(endpoint);
  const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(has_sent_less(accepted.get(), 1));
  EXPECT_FALSE(shut_down_connection(accepted.get(), "tcp://127.0.0.1:1"));
  EXPECT_FALSE(shut_down_connection(-1, endpoint));
  EXPECT_FALSE(shut_down_connection(STDIN_FILENO, endpoint));
  EXPECT_TRUE(shut_down_connection(accepted.get(), endpoint));
  EXPECT_TRUE(raw.hung_up());
}

}  // namespace
}  // namespace hone
