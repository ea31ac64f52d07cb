// Makes journals with a long history, for benchmarks, with the journal's own writer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "journal/records.hpp"

namespace hone {

struct BenchHistory {
  std::size_t episodes = 0;
  std::size_t turns = 0;           ///< in total, distributed evenly
  std::size_t code_bytes = 256;    ///< size of each action; every one is different
  std::size_t reply_bytes = 1024;  ///< bytes that each reply has more than its model
  bool released = false;           ///< all episodes are released, with the oldest possible time
  /// Leaves the write-ahead log in place, as a killed writer does.
  bool killed = false;
};

/// Adds copies of the episode `like` to the journal; `like` is open and has a turn. Returns the last copy.
Result<EpisodeRecord> write_history(const std::filesystem::path& path, const StoredEpisode& like,
                                    const BenchHistory& history);

/// Drops the file from the page cache, as far as the kernel allows.
Status forget_cached(const std::filesystem::path& path);

}  // namespace hone
