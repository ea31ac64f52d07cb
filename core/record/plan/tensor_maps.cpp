// Tokens of tensor maps.
#include "record/plan/tensor_maps.hpp"

#include <array>
#include <cstring>

#include "record/driver/types.hpp"

namespace hone::record {
namespace {

using Token = std::array<std::uint64_t, kTensorMapBytes / sizeof(std::uint64_t)>;

/// A token's words are neither device addresses nor small numbers.
constexpr std::uint64_t kMagic = 0xB8D4E1593C7A5EC5;

Token token_of(std::uint64_t index) {
  Token token;
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = kMagic + i;
  token[1] = ~index;
  return token;
}

}  // namespace

void TensorMaps::encode(Encoded encoded, void* token) {
  const Token bytes = token_of(maps_.size());
  maps_.push_back(encoded);
  std::memcpy(token, bytes.data(), sizeof bytes);
}

const TensorMaps::Encoded* TensorMaps::find(std::string_view data, std::size_t at) const {
  Token token;
  if (at > data.size() || data.size() - at < sizeof token) return nullptr;
  std::memcpy(token.data(), data.data() + at, sizeof token);
  const std::uint64_t index = ~token[1];
  if (token[0] != kMagic || index >= maps_.size() || token != token_of(index)) return nullptr;
  return &maps_[index];
}

}  // namespace hone::record
