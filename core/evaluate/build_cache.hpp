// BuildCache: the most recently used results of builds, within a limit on their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.hpp"
#include "evaluate/built.hpp"
#include "model/value.hpp"

namespace hone {

/// A piece of a plan's bytes counts once, even if several entries have it. [any thread]
///
///   BuildCache cache(std::size_t{512} << 20);
///   if (auto built = cache.find(key)) return built;
///   cache.keep(key, built);
class BuildCache {
 public:
  explicit BuildCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Null: it has none with this key. Counts a hit or a miss.
  std::shared_ptr<const Built> find(const std::string& key) HONE_EXCLUDES(mutex_);
  /// Drops the least recently used entries until the rest fits. The newest entry always stays.
  void keep(const std::string& key, std::shared_ptr<const Built> built) HONE_EXCLUDES(mutex_);
  /// {"hits": n, "misses": n, "entries": n, "bytes": n}
  Value stats() const HONE_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::shared_ptr<const Built> built;
    std::size_t own_bytes;  ///< without the plan's pieces
    std::list<std::string>::iterator age;
  };

  void add(const Built& built, std::size_t own_bytes) HONE_REQUIRES(mutex_);
  void drop_oldest() HONE_REQUIRES(mutex_);

  const std::size_t bytes_max_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ HONE_GUARDED_BY(mutex_);
  std::list<std::string> ages_ HONE_GUARDED_BY(mutex_);  ///< front: used last
  std::unordered_map<const std::string*, std::size_t> piece_uses_
      HONE_GUARDED_BY(mutex_);  ///< the number of times that entries have each piece
  std::size_t bytes_ HONE_GUARDED_BY(mutex_) = 0;
  std::uint64_t hits_ HONE_GUARDED_BY(mutex_) = 0, misses_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
