// Key files: a CURVE key pair as Z85 text. A secret that other users can read is rejected.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone::wire {

/// Keys are 40 characters of Z85. hone never prints a secret key.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
  std::string server_key{};  ///< public key of the client's server; empty: unknown
};

/// Whether this is a key in Z85: 40 characters that encode 32 bytes.
bool is_key(std::string_view text);

/// Refuses a secret file that other users can access. Exception: its group may read it if this
/// process is in that group. Kubernetes mounts secrets that way (0440, fsGroup), with a fixed mode.
Status check_secret_file(const std::string& path, const struct stat& info);

/// Reads a file of lines "public: …", "secret: …" and, in a client's, "server: …"; "#" begins a
/// comment. failed_precondition if check_secret_file() refuses it; invalid_argument names the line
/// and its fault, and never repeats its text.
///
///   HONE_ASSIGN(const KeyPair pair, read_key_file("trainer.key"));
Result<KeyPair> read_key_file(const std::string& path);

/// The public key of a file (the server's `server.pub`, or any key file), or the text itself where
/// no such file is there and it is a key.
Result<std::string> read_public_key(const std::string& path_or_key);

/// Creates a file that only its owner can read. invalid_argument: it exists.
Status write_key_file(const std::string& path, std::string_view comment, const KeyPair& pair);
/// Writes the public key to a file that all users can read; replaces an older one.
Status write_public_file(const std::string& path, std::string_view comment,
                         const std::string& public_key);

}  // namespace hone::wire
