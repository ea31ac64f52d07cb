// Reads key files and checks their permissions. // // Rationale: messages name lines and lengths but never quote the file. Z85 uses the colon, so even the "name" of a mistyped line may be part of a secret.
#include "wire/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "base/utf8.hpp"

namespace hone::wire {
namespace {

constexpr std::size_t kKeyLength = 40;
constexpr std::size_t kFileBytesMax = 4096;
constexpr std::string_view kAlphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

struct FileText {
  std::string text;
  struct stat info {};
};

Result<FileText> read_small(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    const int error_number = errno;
    Error error = system_error("key file " + path, error_number);
    if (error_number == ENOENT) error.code = Code::kNotFound;
    return error;
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return system_error("key file " + path, errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument("key file " + path + ": not a regular file");
  FileText read{std::string(kFileBytesMax + 1, '\0'), info};
  std::size_t size = 0;
  while (size < read.text.size()) {
    const ssize_t n = ::read(fd.get(), read.text.data() + size, read.text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("key file " + path, errno);
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  if (size > kFileBytesMax) {
    return invalid_argument("key file " + path + ": more than " + std::to_string(kFileBytesMax) +
                            " bytes, so it is not a key file");
  }
  read.text.resize(size);
  HONE_ASSIGN(read.text, file_text(std::move(read.text), "key file " + path));
  return read;
}

bool is_in_group(gid_t group) {
  if (group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

Status take_line(std::string_view line, const std::string& place, KeyPair& pair) {
  const std::size_t colon = line.find(": ");
  const std::string_view name = colon == line.npos ? line : line.substr(0, colon);
  std::string* member = name == "public"   ? &pair.public_key
                        : name == "secret" ? &pair.secret_key
                        : name == "server" ? &pair.server_key
                                           : nullptr;
  if (member == nullptr || colon == line.npos) {
    return invalid_argument(place + "expected a line 'public: …', 'secret: …' or 'server: …'");
  }
  const std::string_view value = trim(line.substr(colon + 2));
  if (!member->empty())
    return invalid_argument(place + "duplicate line '" + std::string(name) + "'");
  if (!is_key(value)) {
    const bool length = value.size() != kKeyLength;
    return invalid_argument(place + std::string(name) + ": found " +
                            (length ? std::to_string(value.size()) + " characters"
                                    : std::string("a character that is not Z85")) +
                            ", expected " + std::to_string(kKeyLength) + " Z85 characters");
  }
  *member = value;
  return {};
}

Result<KeyPair> parse(const std::string& path, std::string_view text) {
  KeyPair pair;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    HONE_TRY(take_line(line, "key file " + path + ":" + std::to_string(number) + ": ", pair));
  }
  if (pair.public_key.empty()) {
    return invalid_argument("key file " + path + ": the line 'public: …' is missing");
  }
  return pair;
}

Status write_new(const std::string& path, const std::string& text, unsigned mode) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd && errno == EEXIST) {
    return invalid_argument("key file " + path +
                            " exists; remove it first, or choose another file");
  }
  if (!fd) return system_error("key file " + path, errno);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error_number = errno;
      ::unlink(path.c_str());
      return system_error("key file " + path, error_number);
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Status check_secret_file(const std::string& path, const struct stat& info) {
  const unsigned mode = static_cast<unsigned>(info.st_mode) & 07777u;
  if ((mode & 077u) == 0) return {};
  if ((mode & 037u) == 0 && is_in_group(info.st_gid)) return {};
  char found[8];
  std::snprintf(found, sizeof found, "%04o", mode);
  return failed_precondition(
      path + ": found mode " + found + " of group " + std::to_string(info.st_gid) +
      ", expected 0600, or 0440 with a group of this process: other users can read "
      "the secret; create a new key, or run chmod 600 if it was not read");
}

bool is_key(std::string_view text) {
  if (text.size() != kKeyLength) return false;
  for (std::size_t group = 0; group < kKeyLength; group += 5) {
    std::uint64_t value = 0;
    for (const char c : text.substr(group, 5)) {
      const std::size_t digit = kAlphabet.find(c);
      if (digit == kAlphabet.npos) return false;
      value = value * 85 + digit;
    }
    if (value > UINT32_MAX) return false;
  }
  return true;
}

Result<KeyPair> read_key_file(const std::string& path) {
  HONE_ASSIGN(const FileText file, read_small(path));
  HONE_TRY(check_secret_file("key file " + path, file.info));
  HONE_ASSIGN(KeyPair pair, parse(path, file.text));
  if (pair.secret_key.empty()) {
    return invalid_argument(
        "key file " + path +
        ": the line 'secret: …' is missing; give the private key file, not the public one");
  }
  return pair;
}

Result<std::string> read_public_key(const std::string& path_or_key) {
  auto file = read_small(path_or_key);
  if (!file) {
    if (is_key(path_or_key)) return path_or_key;
    return file.error();
  }
  HONE_ASSIGN(KeyPair pair, parse(path_or_key, file->text));
  return std::move(pair.public_key);
}

Status write_key_file(const std::string& path, std::string_view comment, const KeyPair& pair) {
  std::string text = "# " + std::string(comment) + "\npublic: " + pair.public_key +
                     "\nsecret: " + pair.secret_key + "\n";
  if (!pair.server_key.empty()) text += "server: " + pair.server_key + "\n";
  return write_new(path, text, 0600);
}

Status write_public_file(const std::string& path, std::string_view comment,
                         const std::string& public_key) {
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());
  HONE_TRY(
      write_new(temporary, "# " + std::string(comment) + "\npublic: " + public_key + "\n", 0644));
  if (::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error_number = errno;
  ::unlink(temporary.c_str());
  return system_error("key file " + path, error_number);
}

}  // namespace hone::wire
