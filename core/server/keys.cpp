// Changes a folder of keys under a lock.
#include "server/keys.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/unique_fd.hpp"
#include "server/socket.hpp"

namespace hone {
namespace {

/// Held during a change, so that two `hone keys` do not overwrite each other's changes.
Result<UniqueFd> lock_folder(const KeyFolder& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.path.parent_path(), error);
  if (::mkdir(folder.path.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("create folder " + folder.path.string(), errno);
  }
  UniqueFd fd(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("open " + folder.path.string(), errno);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error("lock " + folder.path.string(), errno);
  }
  return fd;
}

bool is_there(const std::filesystem::path& path) { return ::access(path.c_str(), F_OK) == 0; }

Status write_clients(const KeyFolder& folder, const AllowedClients& clients) {
  return write_file(folder.clients(), clients_text(clients));
}

Result<AllowedClients> known_clients(const KeyFolder& folder) {
  if (!is_there(folder.clients())) return AllowedClients();
  return read_clients(folder.clients());
}

Result<wire::KeyPair> make_server_key_locked(const KeyFolder& folder) {
  HONE_ASSIGN(wire::KeyPair pair, make_key_pair());
  HONE_TRY(wire::write_key_file(folder.server_key().string(),
                                "hone, key pair of the server: keep it secret on this machine",
                                pair));
  HONE_TRY(wire::write_public_file(folder.server_public().string(),
                                   "hone, public key of the server, for clients", pair.public_key));
  if (!is_there(folder.clients())) HONE_TRY(write_clients(folder, {}));
  return pair;
}

}  // namespace

Result<wire::KeyPair> read_server_key(const KeyFolder& folder) {
  auto pair = wire::read_key_file(folder.server_key().string());
  if (!pair) {
    if (pair.error().code != Code::kNotFound) return pair;
    return not_found(pair.error().message + "; create one with: hone keys new NAME --keys " +
                     folder.path.string());
  }
  if (const Status checked = check_key_pair(*pair); !checked) {
    return checked.error().in("key file " + folder.server_key().string());
  }
  struct stat info {};
  if (::stat(folder.server_key().c_str(), &info) == 0 && (info.st_mode & S_IRGRP) != 0) {
    log_info("server", "key file " + folder.server_key().string() + ": group " +
                           std::to_string(info.st_gid) + " can read it; hone is in that group");
  }
  return pair;
}

Result<wire::KeyPair> make_server_key(const KeyFolder& folder) {
  HONE_ASSIGN(const UniqueFd lock, lock_folder(folder));
  return make_server_key_locked(folder);
}

Result<AllowedClient> add_client(const KeyFolder& folder, AllowedClient client,
                                 const std::filesystem::path& key_file) {
  HONE_TRY(check_client_name(client.name));
  HONE_ASSIGN(const UniqueFd lock, lock_folder(folder));
  HONE_ASSIGN(AllowedClients clients, known_clients(folder));
  const auto same = std::find_if(clients.begin(), clients.end(),
                                 [&](const AllowedClient& one) { return one.name == client.name; });
  if (same != clients.end()) {
    return invalid_argument("client '" + client.name +
                            "' has a key; revoke it first: hone keys "
                            "revoke " +
                            client.name);
  }
  auto server =
      is_there(folder.server_key()) ? read_server_key(folder) : make_server_key_locked(folder);
  if (!server) return server.error();
  HONE_ASSIGN(wire::KeyPair pair, make_key_pair());
  pair.server_key = server->public_key;
  HONE_TRY(wire::write_key_file(
      key_file.string(), "hone, key pair of client '" + client.name + "': keep it secret", pair));
  client.public_key = pair.public_key;
  client.created = utc_now();
  clients.push_back(client);
  if (const Status written = write_clients(folder, clients); !written) {
    ::unlink(key_file.c_str());
    return written.error();
  }
  return client;
}

Status revoke_client(const KeyFolder& folder, const std::string& name) {
  if (!is_there(folder.clients())) {
    return not_found("allow-list " + folder.clients().string() + ": it does not exist");
  }
  HONE_ASSIGN(const UniqueFd lock, lock_folder(folder));
  HONE_ASSIGN(AllowedClients clients, read_clients(folder.clients()));
  std::vector<std::string> names;
  for (const AllowedClient& client : clients) names.push_back(client.name);
  if (std::erase_if(clients, [&](const AllowedClient& one) { return one.name == name; }) == 0) {
    return not_found(unknown_name("client", name.substr(0, 64), names));
  }
  return write_clients(folder, clients);
}

}  // namespace hone
