// Splits recorded plans at their large binary values.
#include "evaluate/pieces.hpp"

#include <cstdint>
#include <functional>
#include <optional>

#include "hone/recorded_plan.hpp"

namespace hone {
namespace {

/// One item of MessagePack at the beginning of `bytes`: its header, and the text or binary data behind that. The items of a list
/// or map follow as items of their own.
struct PackedItem {
  std::size_t header = 1, data = 0;
  bool is_binary = false;

  std::size_t size() const { return header + data; }
};

/// An item whose header has a length of `width` bytes.
std::optional<PackedItem> item_with_length(std::string_view bytes, std::size_t width,
                                           bool is_binary) {
  if (bytes.size() <= width) return std::nullopt;
  std::size_t length = 0;
  for (const char c : bytes.substr(1, width)) length = length << 8 | static_cast<std::uint8_t>(c);
  return PackedItem{1 + width, length, is_binary};
}

/// None: the bytes end within the item, or begin with a tag that no recorded plan has.
std::optional<PackedItem> first_item(std::string_view bytes) {
  constexpr std::size_t kWidths[] = {1, 2, 4, 8};
  const auto tag = static_cast<std::uint8_t>(bytes.front());
  std::optional<PackedItem> item = PackedItem{};
  if (tag >= 0xA0 && tag < 0xC0) {
    item->data = tag & 0x1Fu;
  } else if (tag >= 0xC4 && tag <= 0xC6) {
    item = item_with_length(bytes, kWidths[tag - 0xC4], true);
  } else if (tag >= 0xD9 && tag <= 0xDB) {
    item = item_with_length(bytes, kWidths[tag - 0xD9], false);
  } else if (tag == 0xCA || tag == 0xCB) {
    item->header += tag == 0xCA ? 4 : 8;
  } else if (tag >= 0xCC && tag <= 0xD3) {
    item->header += kWidths[(tag - 0xCC) % 4];
  } else if (tag >= 0xDC && tag <= 0xDF) {
    item->header += tag % 2 == 0 ? 2 : 4;
  } else if (tag == 0xC1 || (tag >= 0xC7 && tag <= 0xC9) || (tag >= 0xD4 && tag <= 0xD8)) {
    return std::nullopt;
  }
  if (!item || item->size() > bytes.size()) return std::nullopt;
  return item;
}

/// The binary values of at least kSharedPieceBytesMin, in order. Rationale: the reader of recorded plans copies values,
/// so it does not tell where they lie in the file.
std::vector<std::string_view> large_binaries(std::string_view plan) {
  std::vector<std::string_view> found;
  if (!plan.starts_with(recorded::kMagic)) return found;
  plan.remove_prefix(recorded::kMagic.size());
  while (!plan.empty()) {
    const std::optional<PackedItem> item = first_item(plan);
    if (!item) break;
    if (item->is_binary && item->data >= kSharedPieceBytesMin)
      found.push_back(plan.substr(item->header, item->data));
    plan.remove_prefix(item->size());
  }
  return found;
}

}  // namespace

std::size_t Pieces::size() const {
  std::size_t size = 0;
  for (const Piece& piece : all_) size += piece->size();
  return size;
}

std::string Pieces::joined() const {
  std::string bytes;
  bytes.reserve(size());
  for (const Piece& piece : all_) bytes += *piece;
  return bytes;
}

std::vector<std::string_view> Pieces::views() const {
  std::vector<std::string_view> views;
  for (const Piece& piece : all_) views.emplace_back(*piece);
  return views;
}

Pieces SharedPieces::share(std::string_view plan) {
  std::vector<Pieces::Piece> all;
  const char* at = plan.data();
  const auto add_own = [&](const char* end) {
    if (at != end) all.push_back(std::make_shared<const std::string>(at, end));
  };
  const std::vector<std::string_view> binaries = large_binaries(plan);
  MutexLock lock(mutex_);
  std::erase_if(pieces_, [](const auto& each) { return each.second.expired(); });
  for (const std::string_view binary : binaries) {
    add_own(binary.data());
    all.push_back(shared(binary));
    at = binary.data() + binary.size();
  }
  add_own(plan.data() + plan.size());
  return Pieces(std::move(all));
}

/// Rationale: a submission can make many pieces with the same hash, and each comparison takes as long as reading the piece.
Pieces::Piece SharedPieces::shared(std::string_view bytes) {
  const std::size_t hash = std::hash<std::string_view>()(bytes);
  const auto [begin, end] = pieces_.equal_range(hash);
  std::size_t others = 0;
  for (auto each = begin; each != end; ++each, ++others) {
    Pieces::Piece piece = each->second.lock();
    if (piece != nullptr && *piece == bytes) return piece;
  }
  auto piece = std::make_shared<const std::string>(bytes);
  if (others < kSharedPiecesOfAHash) pieces_.emplace(hash, piece);
  return piece;
}

std::size_t SharedPieces::count() const {
  MutexLock lock(mutex_);
  std::size_t count = 0;
  for (const auto& [hash, piece] : pieces_) {
    if (!piece.expired()) ++count;
  }
  return count;
}

}  // namespace hone
