// The allow-list's file and the folder of keys: what is read, what is refused, and who may see what.
#include "server/allow_list.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "server/keys_fixture.hpp"

namespace hone {
namespace {

constexpr const char* kKey = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

std::string mistake(const std::string& text) {
  const auto clients = parse_clients(text, "clients.yaml");
  return clients ? "allowed" : clients.error().message;
}

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0;
}

TEST(AllowedClients, File_RoundTrips) {
  AllowedClient client;
  client.name = "trainer.1";
  client.public_key = kKey;
  client.role = ClientRole::kMonitor;
  client.held_out = true;
  client.quotas = {10, 20, 1u << 30};
  client.created = "2026-01-02T03:04:05Z";
  const auto read = parse_clients(clients_text({client}), "x");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().name, "trainer.1");
  EXPECT_EQ(read->front().public_key, kKey);
  EXPECT_EQ(read->front().role, ClientRole::kMonitor);
  EXPECT_TRUE(read->front().held_out);
  EXPECT_EQ(read->front().quotas.episodes, 10u);
  EXPECT_EQ(read->front().quotas.steps, 20u);
  EXPECT_EQ(read->front().quotas.bytes, 1u << 30);
  EXPECT_EQ(parse_clients(clients_text({}), "x")->size(), 0u);
  EXPECT_EQ(parse_clients("", "x")->size(), 0u);
}

TEST(AllowedClients, Mistakes_NameTheLine) {
  const std::string key = std::string("public: \"") + kKey + "\"";
  EXPECT_EQ(mistake("clients:\n  - {name: a, public: short}\n"),
            "clients.yaml:2: public: expected 40 characters of Z85");
  EXPECT_EQ(mistake("clients:\n  - {name: a b, " + key + "}\n"),
            "clients.yaml:2: name: a client's name: expected 1 to 64 letters, digits, '.', '_' and "
            "'-', the first a letter, digit or '_'");
  EXPECT_EQ(mistake("clients:\n  - {name: a, " + key + ", role: admin}\n"),
            "clients.yaml:2: role: unknown value 'admin'; valid: trainer, monitor");
  EXPECT_EQ(mistake("clients:\n  - {name: a, " + key + ", held-out: true}\n"),
            "clients.yaml:2: unknown key 'held-out'; did you mean 'held_out'?");
  EXPECT_EQ(mistake("clients:\n  - {name: a, " + key + "}\n  - {name: b, " + key + "}\n"),
            "clients.yaml:3: public: another client has the same key");
  EXPECT_EQ(mistake("client: []\n"),
            "clients.yaml:1: unknown key 'client'; did you mean 'clients'?");
  EXPECT_EQ(mistake("clients:\n  - {name: a, " + key + ", episodes: -1}\n"),
            "clients.yaml:2: episodes: found -1, expected 0 to 1000000000");
}

TEST(AllowedClients, PathsAsNames_AreRefused) {
  for (const char* name : {"", "../x", "a/b", ".hidden", "-x", "a b", "é", "a\"b"}) {
    EXPECT_FALSE(check_client_name(name).ok()) << name;
  }
  EXPECT_FALSE(check_client_name(std::string(65, 'a')).ok());
  EXPECT_TRUE(check_client_name("Trainer-7_b.c").ok());
}

TEST(KeyFolder, Secrets_AreReadableByTheOwnerOnly) {
  const TestKeys keys;
  keys.add("trainer");
  const wire::KeyPair pair = keys.pair("trainer");
  EXPECT_EQ(mode_of(keys.folder().path), 0700u);
  EXPECT_EQ(mode_of(keys.folder().server_key()), 0600u);
  EXPECT_EQ(mode_of(keys.key_file("trainer")), 0600u);
  const wire::KeyPair server = *read_server_key(keys.folder());
  EXPECT_EQ(pair.server_key, server.public_key);
  for (const auto& file : {keys.folder().clients(), keys.folder().server_public()}) {
    EXPECT_EQ(text_of(file).find(pair.secret_key), std::string::npos);
    EXPECT_EQ(text_of(file).find(server.secret_key), std::string::npos);
  }
  EXPECT_EQ(*wire::read_public_key(keys.folder().server_public().string()), server.public_key);
  EXPECT_NE(text_of(keys.folder().clients()).find(pair.public_key), std::string::npos);
}

TEST(KeyFolder, NameOfAClient_IsTakenUntilItIsRevoked) {
  const TestKeys keys;
  keys.add("trainer");
  AllowedClient again;
  again.name = "trainer";
  EXPECT_EQ(add_client(keys.folder(), again, keys.key_file("other")).error().message,
            "client 'trainer' has a key; revoke it first: hone keys revoke trainer");
  EXPECT_FALSE(std::filesystem::exists(keys.key_file("other")));
  EXPECT_EQ(revoke_client(keys.folder(), "trianer").error().message,
            "unknown client 'trianer'; did you mean 'trainer'?");
  EXPECT_TRUE(revoke_client(keys.folder(), "trainer").ok());
  EXPECT_EQ(add_client(keys.folder(), again, keys.key_file("trainer")).error().message,
            "key file " + keys.key_file("trainer").string() +
                " exists; remove it first, or choose another file");
  EXPECT_TRUE(add_client(keys.folder(), again, keys.key_file("other")).ok());
}

TEST(KeyFolder, ServersKey_IsNeverReplaced) {
  const TestKeys keys;
  ASSERT_TRUE(make_server_key(keys.folder()).ok());
  EXPECT_EQ(make_server_key(keys.folder()).error().message,
            "key file " + keys.folder().server_key().string() +
                " exists; remove it first, or choose another file");
}

TEST(KeyFolder, ConcurrentAdditions_AreAllKept) {
  const TestKeys keys;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) keys.add("c" + std::to_string(8 * t + i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_clients(keys.folder().clients())->size(), 32u);
}

TEST(KeyFolder, MismatchedKeyPair_IsRefused) {
  const TestKeys keys;
  ASSERT_TRUE(make_server_key(keys.folder()).ok());
  wire::KeyPair mixed = *make_key_pair();
  mixed.public_key = make_key_pair()->public_key;
  std::filesystem::remove(keys.folder().server_key());
  ASSERT_TRUE(wire::write_key_file(keys.folder().server_key().string(), "x", mixed).ok());
  EXPECT_EQ(read_server_key(keys.folder()).error().message,
            "key file " + keys.folder().server_key().string() +
                ": the public key does not belong to the secret key");
}

}  // namespace
}  // namespace hone
