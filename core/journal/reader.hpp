// JournalReader: reads a journal, also while a server writes it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "journal/records.hpp"

namespace hone {

class Database;

/// [any thread] All members.
class JournalReader {
 public:
  /// not_found where there is no journal; failed_precondition for what is none, is damaged, or has
  /// another version of the schema.
  static Result<std::unique_ptr<JournalReader>> open(const std::filesystem::path& path,
                                                     const std::string& vfs = {});
  ~JournalReader();

  /// With its turns. nullopt: there is no such episode. failed_precondition: it, or a turn of it, is
  /// not what was stored.
  Result<std::optional<StoredEpisode>> episode(std::uint64_t id) const;
  /// The same, of one that is still held by its client; nullopt for one that was released.
  Result<std::optional<StoredEpisode>> held_episode(std::uint64_t id) const;
  /// The held episode that this reset key made, and what it was asked for.
  Result<std::optional<std::pair<std::uint64_t, Sha256>>> held_reset(const Sha256& key) const;

  struct Held {
    std::uint64_t id;
    std::string client;
    bool ended;
  };
  /// All of them: what a server that starts has to go on with.
  Result<std::vector<Held>> held() const;

  /// Newest first.
  Result<std::vector<EpisodeLine>> list(const EpisodeFilter& filter) const;
  /// Every episode, oldest first, with its turns; stops at the first error that `visit` returns,
  /// and at a damaged episode unless `damaged` is set.
  Status each(const EpisodeFilter& filter, const std::function<Status(const StoredEpisode&)>& visit,
              const std::function<void(const Error&)>& damaged = {}) const;

  /// Lists damage, one line each; empty: none. Reads everything: pages, order of turns,
  /// hashes of what is stored by hash.
  Result<std::vector<std::string>> check() const;
  /// A copy as it is now, in a new file.
  Status copy_to(const std::filesystem::path& path) const;

  enum class Name { kTask, kClient, kGroup };
  /// The tasks, clients or groups of the journal's episodes, the most frequent first; at most 1000.
  Result<std::vector<std::string>> names(Name which) const;

 private:
  JournalReader();
  Result<std::optional<StoredEpisode>> read(std::uint64_t id, bool held_only) const
      HONE_REQUIRES(mutex_);
  Status read_turns(StoredEpisode& episode) const HONE_REQUIRES(mutex_);
  Result<std::vector<std::uint64_t>> ids(const EpisodeFilter& filter) const HONE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  struct Statements;
  std::unique_ptr<Database> database_ HONE_GUARDED_BY(mutex_);
  std::unique_ptr<Statements> statements_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
