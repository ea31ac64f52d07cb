// A folder of keys: the server's own pair and the allow-list, as `hone keys` makes and changes them.
#pragma once

#include <filesystem>
#include <string>

#include "server/allow_list.hpp"
#include "wire/key_file.hpp"

namespace hone {

/// Where things lie in it.
struct KeyFolder {
  std::filesystem::path path;

  std::filesystem::path server_key() const { return path / "server.key"; }     ///< secret
  std::filesystem::path server_public() const { return path / "server.pub"; }  ///< for clients
  std::filesystem::path clients() const { return path / "clients.yaml"; }
};

/// The server's pair. not_found: there is none, and how to make one.
Result<wire::KeyPair> read_server_key(const KeyFolder& folder);
/// Makes it, with the folder (mode 0700) and an empty allow-list where they are missing.
/// invalid_argument: there is one.
Result<wire::KeyPair> make_server_key(const KeyFolder& folder);

/// Makes a pair for a client, writes it to the new file `key_file` with the server's public key in
/// it, and enters the client in the allow-list. `client.public_key` and `created` are filled in.
/// The server's own pair is made where it is missing. invalid_argument: the name is taken.
Result<AllowedClient> add_client(const KeyFolder& folder, AllowedClient client,
                                 const std::filesystem::path& key_file);
/// Takes a client out of the allow-list. not_found names the nearest.
Status revoke_client(const KeyFolder& folder, const std::string& name);

}  // namespace hone
