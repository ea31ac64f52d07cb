// Where a server may listen, and where it refuses to.
#include "server/endpoint.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.hpp"
#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-ipc-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }
  std::string endpoint() const { return "ipc://" + (path_ / "hone.sock").string(); }

 private:
  std::filesystem::path path_;
};

std::string refusal(const std::string& endpoint, bool guarded = false) {
  auto prepared = prepare_endpoint(endpoint, guarded);
  return prepared ? "allowed: " + *prepared : prepared.error().message;
}

TEST(Endpoint, Loopback_IsAllowed) {
  EXPECT_EQ(refusal("tcp://127.0.0.1:5917"), "allowed: tcp://127.0.0.1:5917");
  EXPECT_EQ(refusal("tcp://127.8.0.1:*"), "allowed: tcp://127.8.0.1:*");
  EXPECT_EQ(refusal("tcp://[::1]:0"), "allowed: tcp://[::1]:0");
  EXPECT_EQ(refusal("tcp://localhost:5917"), "allowed: tcp://127.0.0.1:5917");
}

TEST(Endpoint, OtherAddresses_NeedKeys) {
  for (const std::string host : {"0.0.0.0", "*", "10.1.2.3", "[::]", "[::ffff:127.0.0.1]",
                                 "localhost.example.org", "eth0", "127.0.0.1.example.org"}) {
    EXPECT_EQ(
        refusal("tcp://" + host + ":5917"),
        "tcp://" + host +
            ":5917: found an address that is not loopback; listening there needs CURVE and an "
            "allow-list: make a client's key with `hone keys new NAME`, then serve with "
            "--keys keys (server.keys); or use tcp://127.0.0.1:5917, tcp://[::1]:5917 or "
            "ipc://FOLDER/hone.sock");
    EXPECT_EQ(refusal("tcp://" + host + ":5917", true), "allowed: tcp://" + host + ":5917");
  }
}

TEST(Endpoint, Malformed_IsAnError) {
  EXPECT_EQ(refusal("tcp://127.0.0.1"),
            "tcp://127.0.0.1: found no port, expected tcp://127.0.0.1:5917");
  EXPECT_EQ(refusal("tcp://127.0.0.1:70000"),
            "tcp://127.0.0.1:70000: found port '70000', expected 0 to 65535 or *");
  EXPECT_EQ(refusal("inproc://x"),
            "found 'inproc://x', expected tcp://127.0.0.1:PORT, tcp://[::1]:PORT or ipc:///PATH");
  EXPECT_EQ(refusal("ipc://@abstract"),
            "ipc://@abstract: the path is not absolute; expected ipc:///FOLDER/hone.sock");
  EXPECT_EQ(refusal("ipc:///" + std::string(120, 'x')),
            "ipc:///" + std::string(120, 'x') + ": found a path of 121 bytes, at most 107 allowed");
}

TEST(Endpoint, IpcFolder_MustBePrivate) {
  const Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string user = std::to_string(::geteuid());
  EXPECT_EQ(refusal(folder.endpoint()), folder.endpoint() + ": folder " + folder.path().string() +
                                            ": found mode 0755 of user " + user +
                                            ", expected 0700 of user " + user +
                                            ", so that other users cannot connect");
  EXPECT_EQ(refusal("ipc://" + (folder.path() / "none" / "hone.sock").string()),
            "ipc://" + (folder.path() / "none" / "hone.sock").string() + ": folder " +
                (folder.path() / "none").string() + ": no such file or directory");
}

TEST(Endpoint, ExistingFile_IsNotReplaced) {
  const Folder folder;
  std::ofstream(folder.path() / "hone.sock") << "precious";
  EXPECT_EQ(refusal(folder.endpoint()),
            folder.endpoint() +
                ": the file exists and is not a socket; remove it or choose another path");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "hone.sock"));
}

TEST(Endpoint, StaleSocket_IsReplacedButALiveOneIsNot) {
  const Folder folder;
  {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (folder.path() / "hone.sock").string();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ScriptedService service;
  ServerOptions options = test_options();
  options.endpoint = folder.endpoint();
  options.control_endpoint.clear();
  auto server = start_server(service, options);
  struct stat info {};
  ASSERT_EQ(::stat((folder.path() / "hone.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  TestClient client(server->endpoint());
  EXPECT_EQ(client.ask("ping").kind, wire::ReplyKind::kResult);

  const auto second = Server::start(options, service);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, folder.endpoint() + ": another server listens there");
  EXPECT_EQ(client.ask("ping").kind, wire::ReplyKind::kResult);
}

TEST(Endpoint, PortInUse_IsAnError) {
  ScriptedService service;
  auto server = start_server(service);
  ServerOptions options = test_options();
  options.endpoint = server->endpoint();
  const auto second = Server::start(options, service);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "listen on " + server->endpoint() + ": Address already in use");
  EXPECT_EQ(second.error().code, Code::kUnavailable);
}

TEST(Endpoint, Ipv6Loopback_Serves) {
  ScriptedService service;
  ServerOptions options = test_options();
  options.endpoint = "tcp://[::1]:0";
  auto server = Server::start(options, service);
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
  TestClient client((*server)->endpoint());
  EXPECT_EQ(client.ask("ping").kind, wire::ReplyKind::kResult);
}

}  // namespace
}  // namespace hone
