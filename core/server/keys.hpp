// A folder of keys: the server's key pair and the allow-list, as `hone keys` creates and changes them.
#pragma once

#include <filesystem>
#include <string>

#include "server/allow_list.hpp"
#include "wire/key_file.hpp"

namespace hone {

/// Paths in the folder.
struct KeyFolder {
  std::filesystem::path path;

  std::filesystem::path server_key() const { return path / "server.key"; }     ///< secret
  std::filesystem::path server_public() const { return path / "server.pub"; }  ///< for clients
  std::filesystem::path clients() const { return path / "clients.yaml"; }
};

/// The server's key pair. not_found: there is none; the message says how to create it.
Result<wire::KeyPair> read_server_key(const KeyFolder& folder);
/// Creates the server's key pair, and the folder (mode 0700) and an empty allow-list if they are missing. invalid_argument: the pair exists.
Result<wire::KeyPair> make_server_key(const KeyFolder& folder);

/// Creates a key pair for a client, writes it with the server's public key to the new file `key_file`, and adds the client to the allow-list. Sets `client.public_key` and `created`. Creates the server's key pair if it is missing. invalid_argument: the name is taken.
Result<AllowedClient> add_client(const KeyFolder& folder, AllowedClient client,
                                 const std::filesystem::path& key_file);
/// Removes a client from the allow-list. not_found suggests the nearest name.
Status revoke_client(const KeyFolder& folder, const std::string& name);

}  // namespace hone
