// Counts the bytes in the cache, and drops the least recently used entries.
#include "evaluate/build_cache.hpp"

#include <utility>
#include <vector>

namespace hone {
namespace {

/// The bytes of an entry without its plan's pieces.
std::size_t own_bytes_of(const Built& built) {
  constexpr std::size_t kEntryBytes = 4096;  // of the entry itself, its key among them
  const std::size_t report = built.report.is_nil() ? 0 : to_msgpack(built.report).size();
  std::size_t code = 0;
  if (built.code != nullptr) {
    for (const CodeBlock& block : built.code->blocks) code += block.text.size();
  }
  return kEntryBytes + code + built.artifact.size() + built.diagnostics.size() + report;
}

const std::vector<Pieces::Piece>& pieces_of(const Built& built) {
  static const std::vector<Pieces::Piece> none;
  return built.plan == nullptr ? none : built.plan->bytes.all();
}

}  // namespace

std::shared_ptr<const Built> BuildCache::find(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  ages_.splice(ages_.begin(), ages_, found->second.age);
  return found->second.built;
}

void BuildCache::keep(const std::string& key, std::shared_ptr<const Built> built) {
  MutexLock lock(mutex_);
  if (entries_.count(key) != 0) return;
  const std::size_t own_bytes = own_bytes_of(*built);
  add(*built, own_bytes);
  ages_.push_front(key);
  entries_[key] = {std::move(built), own_bytes, ages_.begin()};
  while (bytes_ > bytes_max_ && entries_.size() > 1) drop_oldest();
}

void BuildCache::add(const Built& built, std::size_t own_bytes) {
  bytes_ += own_bytes;
  for (const Pieces::Piece& piece : pieces_of(built)) {
    if (piece_uses_[piece.get()]++ == 0) bytes_ += piece->size();
  }
}

void BuildCache::drop_oldest() {
  const auto oldest = entries_.find(ages_.back());
  bytes_ -= oldest->second.own_bytes;
  for (const Pieces::Piece& piece : pieces_of(*oldest->second.built)) {
    const auto uses = piece_uses_.find(piece.get());
    if (--uses->second > 0) continue;
    bytes_ -= piece->size();
    piece_uses_.erase(uses);
  }
  entries_.erase(oldest);
  ages_.pop_back();
}

Value BuildCache::stats() const {
  MutexLock lock(mutex_);
  return Value::map(
      {{"hits", hits_}, {"misses", misses_}, {"entries", entries_.size()}, {"bytes", bytes_}});
}

}  // namespace hone
