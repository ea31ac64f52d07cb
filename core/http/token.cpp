// Reads files of tokens.
#include "http/token.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/files.hpp"
#include "wire/key_file.hpp"

namespace hone {
namespace {

constexpr std::size_t kTokenMin = 16, kTokenMax = 4096;

}  // namespace

Result<std::string> read_token(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0) HONE_TRY(wire::check_secret_file(path, about));
  HONE_ASSIGN(std::string text, read_text(path, kTokenMax));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.size() >= kTokenMin && text.find_first_of(" \t") == std::string::npos) return text;
  return invalid_argument(path + ": the first line has " + std::to_string(text.size()) +
                          " characters or contains spaces; expected a token of at least " +
                          std::to_string(kTokenMin) + " characters without spaces");
}

}  // namespace hone
