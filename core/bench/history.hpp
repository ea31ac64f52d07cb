// Journals with a history, for figures: written by the journal's own writer, episode after episode.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "journal/records.hpp"

namespace hone {

struct History {
  std::size_t episodes = 0;
  std::size_t turns = 0;           ///< of all of them, spread evenly
  std::size_t code_bytes = 256;    ///< of each action; no two are the same
  std::size_t reply_bytes = 1024;  ///< added to each reply over its model
  bool released = false;           ///< released, with the oldest possible time
  /// Leaves the write-ahead log in place, as after a kill of the writer.
  bool killed = false;
};

/// Adds episodes to the journal that are like `like`, which is open and has a turn. Gives the last
/// of them.
Result<EpisodeRecord> write_history(const std::filesystem::path& path, const StoredEpisode& like,
                                    const History& history);

/// Puts the file out of the system's memory, as far as the system lets go of it.
Status forget_cached(const std::filesystem::path& path);

}  // namespace hone
