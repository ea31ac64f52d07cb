// Pieces: a file's bytes in pieces, some of which several files share.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

namespace hone {

/// Smallest size of a piece that files share (bytes). A smaller one is not worth an entry in a table.
inline constexpr std::size_t kSharedPieceBytesMin = std::size_t{64} << 10;
/// Most pieces with the same hash that files share. Without an attack there is one. Further pieces are not shared.
inline constexpr std::size_t kSharedPiecesOfAHash = 4;

/// A file's bytes are all pieces, one after the other. They do not change, and copies share them.
class Pieces {
 public:
  using Piece = std::shared_ptr<const std::string>;

  Pieces() = default;
  explicit Pieces(std::string bytes)
      : all_{std::make_shared<const std::string>(std::move(bytes))} {}
  explicit Pieces(std::vector<Piece> all) : all_(std::move(all)) {}

  const std::vector<Piece>& all() const { return all_; }
  std::size_t size() const;
  /// The file's bytes. This is a copy, so use it only where a consumer needs one string.
  std::string joined() const;
  /// Valid while this object or a copy of it exists.
  std::vector<std::string_view> views() const;

 private:
  std::vector<Piece> all_;
};

/// Finds equal parts of recorded plans, and keeps each once. A part is freed with its last plan. [any thread]
///
///   SharedPieces images;
///   plan->bytes = images.share(file);
class SharedPieces {
 public:
  /// The same bytes. Each binary value of at least kSharedPieceBytesMin is a piece of its own, which all plans with equal bytes
  /// share: kernel images, above all. `plan`: the file of a valid recorded plan; other bytes give one piece.
  Pieces share(std::string_view plan) HONE_EXCLUDES(mutex_);
  /// The number of pieces that at least one plan has.
  std::size_t count() const HONE_EXCLUDES(mutex_);

 private:
  Pieces::Piece shared(std::string_view bytes) HONE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  /// By the hash of their bytes. Rationale: pieces with equal hashes are compared byte by byte. So a collision only
  /// costs time, which kSharedPiecesOfAHash limits, or memory. SHA-256 would take longer than some recordings.
  std::multimap<std::size_t, std::weak_ptr<const std::string>> pieces_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
