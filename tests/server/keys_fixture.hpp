// A folder of keys that is gone after the test, and clients with keys from it.
#pragma once

#include <sys/eventfd.h>

#include <filesystem>

#include "base/unique_fd.hpp"
#include "server/keys.hpp"
#include "server/test_client.hpp"

namespace hone {

class TestKeys {
 public:
  TestKeys() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-keys-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~TestKeys() { std::filesystem::remove_all(root_); }
  TestKeys(const TestKeys&) = delete;
  TestKeys& operator=(const TestKeys&) = delete;

  KeyFolder folder() const { return {root_ / "keys"}; }
  std::filesystem::path key_file(const std::string& name) const { return root_ / (name + ".key"); }

  /// Makes a client with this name and these rights.
  void add(AllowedClient client) const {
    const std::string name = client.name;
    const auto added = add_client(folder(), std::move(client), key_file(name));
    EXPECT_TRUE(added.ok()) << added.error().message;
  }
  void add(const std::string& name) const {
    AllowedClient client;
    client.name = name;
    add(std::move(client));
  }

  wire::KeyPair pair(const std::string& name) const {
    const auto pair = wire::read_key_file(key_file(name).string());
    EXPECT_TRUE(pair.ok()) << pair.error().message;
    return pair ? *pair : wire::KeyPair();
  }
  SocketOptions client_options(const std::string& name) const {
    SocketOptions options = TestClient::client_options();
    options.curve = pair(name);
    return options;
  }
  ServerOptions server_options() const {
    ServerOptions options = test_options();
    options.keys = folder().path.string();
    return options;
  }

 private:
  std::filesystem::path root_;
};

/// A DEALER of which one only wants to know that its handshake fails.
class RefusedClient {
 public:
  RefusedClient(const std::string& endpoint, const SocketOptions& options)
      : socket_(Socket::dealer(context_, options)), never_(::eventfd(0, EFD_CLOEXEC)) {
    auto watch = socket_.watch(context_);
    EXPECT_TRUE(watch.ok());
    watch_ = std::make_unique<Socket>(std::move(*watch));
    EXPECT_TRUE(socket_.connect(endpoint).ok());
    static_cast<void>(socket_.send(wire::encode_request(
        {"hello", 1, {}, Value::map({{"versions", Value::array({"hone/1"})}}), {}})));
  }

  /// Waits until a handshake failed; false: a reply came, or nothing did.
  bool refused() {
    for (int n = 0; n < 1000; ++n) {
      wait_readable({watch_.get(), &socket_}, never_.get(), kPatienceMs);
      while (const auto event = watch_->next_event()) {
        if (event->kind == ConnectionEvent::kHandshakeFailed) return true;
      }
      wire::Frames frames;
      if (socket_.receive(frames, 0)) return false;
    }
    return false;
  }

 private:
  SocketContext context_;
  Socket socket_;
  std::unique_ptr<Socket> watch_;
  UniqueFd never_;
};

/// The number behind a name in a reply of `metrics`.
inline std::int64_t metric(TestClient& control, const std::string& name) {
  const Answer answer = control.ask("metrics");
  const Value* metrics = answer.body.find("metrics");
  const Value* found = metrics != nullptr ? metrics->find(name) : nullptr;
  return found != nullptr && found->is_number() ? static_cast<std::int64_t>(found->as_double())
                                                : -1;
}

/// Asks for a metric until it has reached a value. The server learns of a closed connection or a
/// failed handshake from its socket's monitor, which may be after the client has seen it.
inline bool metric_reaches(TestClient& control, const std::string& name, std::int64_t least) {
  for (int n = 0; n < 100'000; ++n) {
    if (metric(control, name) >= least) return true;
  }
  return false;
}

}  // namespace hone
