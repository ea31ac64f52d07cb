// Damaged key files: what is read is a valid key, and errors do not quote the file.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "fuzz/fuzz.hpp"
#include "wire/key_file.hpp"

namespace hone::fuzz {
namespace {

/// Whether a message repeats eight characters in a row that only the file can have told it.
bool gives_away(std::string_view message, std::string_view text, std::string_view known) {
  constexpr std::size_t kRun = 8;
  for (std::size_t at = 0; at + kRun <= text.size(); ++at) {
    const std::string_view run = text.substr(at, kRun);
    if (message.find(run) != message.npos && known.find(run) == known.npos) return true;
  }
  return false;
}

/// Numbers as one mark each: messages count, and files may hold the same digits.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || out.empty() || out.back() != '#') out += digit ? '#' : c;
  }
  return out;
}

void check_refusal(const Error& error, std::string_view text, const std::string& path) {
  check_error(error, "key file " + path);
  // Every word that messages have of their own: a file that holds one of them tells nothing.
  const std::string known = without_numbers(
      ":1: expected a line 'public: …', 'secret: …' or 'server: …'|:1: duplicate line 'public'|"
      ":1: duplicate line 'secret'|:1: duplicate line 'server'|:1: public: found 1 characters, "
      "expected "
      "40 Z85 characters|:1: secret: found 1 characters|:1: server: found 1 characters|:1: public: "
      "found a character that is not Z85, expected 40 Z85 characters|:1: secret: found a "
      "character|:1: "
      "server: found a character|: more than 4096 bytes, so it is not a key file|: the line "
      "'public: …' is "
      "missing|"
      ": the line 'secret: …' is missing; give the private key file, not the public one|: found "
      "mode 0640 of group 0, expected 0600, or 0440 with a group of this process: other users can "
      "read the secret; create a new key, or run chmod 600 if it was not read|: found UTF-16 text, "
      "found UTF-32 text, expected "
      "UTF-8; convert it with: iconv -f UTF-16 -t UTF-8, iconv -f UTF-32 -t UTF-8");
  // The path may stand in the file too, and is not of it.
  const std::size_t place = std::min(error.message.size(), sizeof "key file" + path.size());
  const std::string words = without_numbers(error.message.substr(place));
  check(!gives_away(words, without_numbers(text), known),
        "a refusal repeats nothing of a key file: " + error.message);
}

}  // namespace

void one(std::string_view text) {
  static const std::string kPath = (scratch() / "a.key").string();
  static const std::string kCopy = (scratch() / "copy.key").string();
  put_file(kPath, text);
  ::chmod(kPath.c_str(), 0600);

  const auto half = wire::read_public_key(kPath);
  if (!half) check_refusal(half.error(), text, kPath);
  check(!half || wire::is_key(*half), "a public key is 40 characters of Z85");
  const auto pair = wire::read_key_file(kPath);
  if (!pair) return check_refusal(pair.error(), text, kPath);
  check(half && *half == pair->public_key, "both readers find the same public key");
  check(wire::is_key(pair->public_key) && wire::is_key(pair->secret_key), "keys are keys");
  check(pair->server_key.empty() || wire::is_key(pair->server_key), "a server's key is one");

  ::unlink(kCopy.c_str());
  check(wire::write_key_file(kCopy, "a copy", *pair).ok(), "a key can be written");
  const auto again = wire::read_key_file(kCopy);
  check(again && again->public_key == pair->public_key && again->secret_key == pair->secret_key &&
            again->server_key == pair->server_key,
        "a key is read as it was written");

  ::chmod(kPath.c_str(), 0644);
  const auto shared = wire::read_key_file(kPath);
  check(!shared && shared.error().code == Code::kFailedPrecondition,
        "a key that others can read is refused");
  check_refusal(shared.error(), text, kPath);
}

}  // namespace hone::fuzz
