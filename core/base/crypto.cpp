// The one file that includes libsodium.
#include "base/crypto.hpp"

#include <sodium.h>

#include "base/assert.hpp"

namespace hone {
namespace {

void initialise() {
  static const int ready = sodium_init();
  HONE_ASSERT(ready >= 0);
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return digest;
}

std::string sha256_hex(std::string_view bytes) { return to_hex(sha256(bytes)); }

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::uint64_t random_u64() {
  initialise();
  std::uint64_t value = 0;
  randombytes_buf(&value, sizeof value);
  return value;
}

void random_bytes(std::span<std::uint8_t> out) {
  initialise();
  randombytes_buf(out.data(), out.size());
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  random_bytes({reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()});
  return to_hex({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hone
