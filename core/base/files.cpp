// Whole-file reads, atomic writes, sealed memory files.
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/crypto.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

Status write_all(int fd, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("write " + std::string(what), errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    const int error_number = errno;
    Error error = system_error("open " + path.string(), error_number);
    if (error_number == ENOENT) error.code = Code::kNotFound;
    return error;
  }
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return system_error("stat " + path.string(), errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument(path.string() + ": not a regular file");
  std::string bytes;
  char block[64 * 1024];
  for (;;) {
    const ssize_t n = ::read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("read " + path.string(), errno);
    if (n == 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(n));
    if (bytes.size() > bytes_max) {
      return invalid_argument(path.string() + ": " + std::to_string(info.st_size) +
                              " bytes, at most " + std::to_string(bytes_max) + " allowed");
    }
  }
}

Result<std::string> read_text(const std::filesystem::path& path, std::size_t bytes_max) {
  HONE_ASSIGN(std::string bytes, read_file(path, bytes_max));
  return file_text(std::move(bytes), path.string());
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::path temporary = path;
  temporary += "." + random_hex(4) + ".tmp";
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return system_error("create " + temporary.string(), errno);
  if (Status written = write_all(fd.get(), bytes, temporary.string()); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return system_error("rename to " + path.string(), error_number);
  }
  return {};
}

/// Rationale: st_ctim and not st_mtim, because programs that copy files set the latter.
std::string file_version(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return "";
  return std::to_string(found.st_dev) + "." + std::to_string(found.st_ino) + "." +
         std::to_string(found.st_size) + "." + std::to_string(found.st_ctim.tv_sec) + "." +
         std::to_string(found.st_ctim.tv_nsec);
}

Result<std::uint64_t> free_bytes(const std::filesystem::path& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return system_error(folder.string(), errno);
  const auto blocks = ::geteuid() == 0 ? space.f_bfree : space.f_bavail;
  return std::uint64_t{blocks} * space.f_frsize;
}

Result<UniqueFd> memory_file(std::string_view name, std::string_view bytes) {
  return memory_file(name, std::vector{bytes});
}

Result<UniqueFd> memory_file(std::string_view name, const std::vector<std::string_view>& pieces) {
  UniqueFd fd(memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  for (const std::string_view piece : pieces) HONE_TRY(write_all(fd.get(), piece, name));
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return system_error("seal memory file", errno);
  return fd;
}

bool is_plugin_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".so") || name.ends_with(".py");
}

std::filesystem::path install_root() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path folder = program.parent_path();
  if (folder.filename() == "libexec") return folder.parent_path();
  if (folder.filename() == "bin" &&
      std::filesystem::exists(folder.parent_path() / "lib/hone", ignored)) {
    return folder.parent_path() / "lib/hone";
  }
  return folder;
}

}  // namespace hone
