// The library's side of a plugin host: loads it and serves its factories' calls on a socket.
#pragma once

#include <filesystem>
#include <string>

namespace hone {

/// Serves until the other side closes the connection. Returns the exit status. `workdir`: a folder in which
/// the plugin gets its own one; empty: none.
int serve_library(int socket, const std::filesystem::path& path, const std::string& workdir);

}  // namespace hone
