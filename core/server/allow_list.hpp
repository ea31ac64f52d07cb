// AllowList: the clients that may connect, by public key, with their permissions.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "episode/service.hpp"

namespace hone {

enum class ClientRole {
  kTrainer,  ///< every verb
  kMonitor,  ///< only the verbs that change nothing (wire::VerbFacts::is_read_only)
};
std::string_view role_name(ClientRole role);
std::vector<std::string> role_names();

struct AllowedClient {
  std::string name;        ///< letters, digits, ".", "_", "-"; at most 64
  std::string public_key;  ///< Z85
  ClientRole role = ClientRole::kTrainer;
  bool held_out = false;  ///< may have tasks of the split held_out
  Quotas quotas{};        ///< 0: the configured default
  std::string created{};  ///< UTC
};
using AllowedClients = std::vector<AllowedClient>;

/// Whether a client may have this name.
Status check_client_name(const std::string& name);

/// Reads the YAML of an allow-list; two of one name or key are invalid_argument "name:LINE: …".
Result<AllowedClients> parse_clients(std::string_view text, std::string_view name);
/// What parse_clients reads.
std::string clients_text(const AllowedClients& clients);
/// failed_precondition: other users may write the file.
Result<AllowedClients> read_clients(const std::filesystem::path& path);

/// The list of a running server. [any thread] All members.
///
///   HONE_ASSIGN(auto allowed, AllowList::open("keys/clients.yaml"));
///   allowed->refresh();
///   if (auto client = allowed->find(key)) greet(client->name);
class AllowList {
 public:
  static Result<std::shared_ptr<AllowList>> open(std::filesystem::path path);

  /// Reads the file again if it changed; otherwise it costs one stat(). If the file is missing or invalid, it logs an error and keeps the list.
  void refresh();
  /// Reads the file even if it seems unchanged.
  void reload();
  /// Increases with each change of the list.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// nullptr: no client has this key, or the key was revoked.
  std::shared_ptr<const AllowedClient> find(const std::string& public_key) const;
  std::size_t size() const;

 private:
  explicit AllowList(std::filesystem::path path) : path_(std::move(path)) {}
  void read() HONE_REQUIRES(mutex_);
  void take(AllowedClients clients) HONE_REQUIRES(mutex_);

  const std::filesystem::path path_;
  std::atomic<std::uint64_t> generation_{0};
  mutable Mutex mutex_;
  std::string read_ HONE_GUARDED_BY(mutex_);  // file_version() of the file that was read
  std::map<std::string, std::shared_ptr<const AllowedClient>, std::less<>> clients_
      HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
