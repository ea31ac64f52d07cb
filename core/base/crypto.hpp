// Hashes, secret randomness and comparison in constant time (libsodium).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hone {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Unpredictable bits from the operating system: seeds, tokens, incarnations.
std::uint64_t random_u64();
void random_bytes(std::span<std::uint8_t> out);
/// 2·bytes hexadecimal digits.
std::string random_hex(std::size_t bytes);

/// Compares two secrets in a time that depends only on their length.
bool equal_secrets(std::string_view a, std::string_view b);

}  // namespace hone
