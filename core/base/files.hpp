// Reads and writes whole files, and finds the folders of hone's own files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// Reads a whole file. A file of more than `bytes_max` is an invalid_argument with its size.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max = 64u << 20);

/// Reads a text file: read_file(), then file_text() (base/utf8.hpp).
Result<std::string> read_text(const std::filesystem::path& path, std::size_t bytes_max = 64u << 20);

/// Writes a new file and renames it to the target, so that a reader sees the old or the new file, never a part.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// A text that changes if the file is written or replaced, or if its permissions change; empty: there is no file. It
/// has only digits and dots, so it needs no escapes in a URI.
std::string file_version(const std::filesystem::path& path);

/// Bytes that this process may still write to the file system of a folder.
Result<std::uint64_t> free_bytes(const std::filesystem::path& folder);

/// A sealed, read-only memory file with these bytes. A process that gets it cannot change or resize it.
Result<UniqueFd> memory_file(std::string_view name, std::string_view bytes);
/// The same for bytes in pieces.
Result<UniqueFd> memory_file(std::string_view name, const std::vector<std::string_view>& pieces);

/// Whether a configured name is a path of a plugin, "my_reward.py" or "build/my_reward.so", and not its name.
bool is_plugin_path(std::string_view name);

/// The folder of the running program (`hone`), or the parent of libexec/ for a program in there.
/// It contains libexec/, plugins/ and share/.
std::filesystem::path install_root();

}  // namespace hone
