// Finds repeated text with a table of the last positions of eight-byte sequences.
#include "journal/repeats.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hone {
namespace {

constexpr std::size_t kSeed = 8,
                      kShortest = 12;  // bytes of a sequence that is looked up; shortest copy
/// Above this size nothing is copied, so that a small damaged file cannot expand without limit.
constexpr std::size_t kWhole = 64u << 20;
constexpr int kTableBitsMin = 8, kTableBitsMax = 16;

void put_number(std::string& out, std::size_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

/// Removes a number from the front.
bool take_number(std::string_view& from, std::size_t& number) {
  number = 0;
  for (int shift = 0; shift < 35 && !from.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(from.front());
    from.remove_prefix(1);
    number |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// The last position of each eight-byte sequence, unless a sequence with the same hash replaced it.
class Seen {
 public:
  explicit Seen(std::string_view text)
      : text_(text), shift_(64 - bits_for(text.size())), last_(std::size_t{1} << (64 - shift_)) {}

  /// The earlier position of the bytes at `at`; stores `at` as their new position.
  std::size_t exchange(std::size_t at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text_.data() + at, sizeof bytes);
    std::uint32_t& slot = last_[bytes * 0x9e3779b97f4a7c15u >> shift_];
    const std::uint32_t before = slot;
    slot = static_cast<std::uint32_t>(at + 1);
    return before;  // the position plus one; 0: none
  }

 private:
  static int bits_for(std::size_t size) {
    return std::min(kTableBitsMax, std::max(kTableBitsMin, static_cast<int>(std::bit_width(size))));
  }
  const std::string_view text_;
  const int shift_;
  std::vector<std::uint32_t> last_;
};

}  // namespace

std::string without_repeats(std::string_view reply, std::string_view action,
                            std::string_view words) {
  std::string all;
  all.reserve(action.size() + words.size() + reply.size());
  all.append(action).append(words).append(reply);
  const std::size_t start = action.size() + words.size();
  std::string left;
  std::size_t literal = start, at = 0;
  const auto flush = [&](std::size_t end) {
    put_number(left, end - literal);
    left.append(all, literal, end - literal);
  };
  if (all.size() <= kWhole) {
    Seen seen(all);
    while (at + kSeed <= all.size()) {
      const std::size_t before = seen.exchange(at);
      std::size_t same = 0;
      if (at >= start && before != 0) {
        while (at + same < all.size() && all[before - 1 + same] == all[at + same]) ++same;
      }
      if (same < kShortest) {
        ++at;
        continue;
      }
      flush(at);
      put_number(left, same);
      put_number(left, before - 1);
      for (const std::size_t end = at + same; ++at < end;) {
        if (at + kSeed <= all.size()) static_cast<void>(seen.exchange(at));
      }
      literal = at;
    }
  }
  if (literal < all.size()) flush(all.size());
  return left;
}

std::optional<std::string> with_repeats(std::string_view left, std::string_view action,
                                        std::string_view words) {
  std::string all;
  all.append(action).append(words);
  const std::size_t start = all.size();
  while (!left.empty()) {
    std::size_t size = 0, from = 0;
    if (!take_number(left, size) || size > left.size()) return std::nullopt;
    all.append(left.substr(0, size));
    left.remove_prefix(size);
    if (left.empty()) break;
    if (!take_number(left, size) || !take_number(left, from)) return std::nullopt;
    if (from >= all.size() || all.size() > kWhole || size > kWhole - all.size()) {
      return std::nullopt;
    }
    // Byte by byte, because a copy may overlap its own output.
    for (const std::size_t end = from + size; from < end; ++from) all += all[from];
  }
  return all.substr(start);
}

}  // namespace hone
