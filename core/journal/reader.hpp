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

/// [any thread] All members. An error of open(), episode(), held_episode(), list(), each() and check() begins with
/// "journal PATH: ".
class JournalReader {
 public:
  /// not_found: there is no journal. failed_precondition: the file is not a journal, is damaged, or has
  /// another schema version.
  static Result<std::unique_ptr<JournalReader>> open(const std::filesystem::path& path,
                                                     const std::string& vfs = {});
  ~JournalReader();

  /// An episode with its turns and calls; nullopt if there is none. failed_precondition: the episode or one of its
  /// turns or calls is damaged.
  Result<std::optional<StoredEpisode>> episode(std::uint64_t id) const;
  /// As episode(), but only an open episode; nullopt for a released one.
  Result<std::optional<StoredEpisode>> held_episode(std::uint64_t id) const;
  /// The open episode that a request with this reset key created, and the hash of that request.
  Result<std::optional<std::pair<std::uint64_t, Sha256>>> held_reset(const Sha256& key) const;

  struct Held {
    std::uint64_t id;
    std::string client;
    bool ended;
  };
  /// All open episodes, which a starting server continues.
  Result<std::vector<Held>> held() const;

  /// Sorted by time, the newest first.
  Result<std::vector<EpisodeLine>> list(const EpisodeFilter& filter) const;
  /// Visits the facts of every turn, in no order, until `visit` returns false. Turns that a branch shares with its
  /// parent are visited once, for the parent. Checksums are not compared. `visit` must not use this reader.
  /// Only `client` and `reward` of `filter` count. `last_replies`: read the reply of a turn that ended its episode.
  Status each_turn(const std::function<bool(const TurnLine&)>& visit,
                   const EpisodeFilter& filter = {}, bool last_replies = false) const;
  /// Visits the facts of the turns that were written after `last`, in the order in which they were written, and moves `last` to
  /// the last one that it read. Otherwise as each_turn(). False: nothing was visited, because the turn at `last` is no longer
  /// there; begin again with a new place.
  Result<bool> each_turn_after(TurnPlace& last, const std::function<void(const TurnLine&)>& visit,
                               bool last_replies = false) const;
  /// All turns in the file, also those that each_turn() does not visit.
  Result<std::int64_t> count_turns() const;
  /// The reply to a turn: MessagePack, as sent; empty if there is no such turn. Its checksum is not compared.
  Result<std::string> reply(std::uint64_t episode, std::int64_t turn) const;
  Result<std::int64_t> count_episodes() const;
  /// The tasks with the most episodes, at most 1000. Only `client` and `reward` of `filter` count.
  Result<std::vector<TaskLine>> tasks(const EpisodeFilter& filter = {}) const;
  /// Visits every episode with its turns, the oldest first. Stops at the first error of `visit`, and at a
  /// damaged episode unless `damaged` is set.
  Status each(const EpisodeFilter& filter, const std::function<Status(const StoredEpisode&)>& visit,
              const std::function<void(const Error&)>& damaged = {}) const;

  /// Lists damage, one line each; empty: none. Reads everything: pages, order of turns,
  /// hashes of what is stored by hash.
  Result<std::vector<std::string>> check() const;
  /// Copies the journal in its present state to a new file.
  Status copy_to(const std::filesystem::path& path) const;

  enum class Name { kTask, kClient, kGroup, kReward };
  /// The tasks, clients, groups or rewards of the journal's episodes, the most frequent first; at most 1000.
  Result<std::vector<std::string>> names(Name which) const;

  /// From now on, a query of this reader fails with `cancelled` once `stop` returns true, even if it has found no row.
  void stop_when(std::function<bool()> stop) const;

 private:
  explicit JournalReader(std::filesystem::path path);
  Result<std::optional<StoredEpisode>> read(std::uint64_t id, bool held_only) const
      HONE_REQUIRES(mutex_);
  Status read_turns(StoredEpisode& episode) const HONE_REQUIRES(mutex_);
  Status read_calls(StoredEpisode& episode) const HONE_REQUIRES(mutex_);
  Result<std::vector<std::uint64_t>> ids(const EpisodeFilter& filter) const;
  Result<std::vector<EpisodeLine>> lines(const EpisodeFilter& filter) const;
  Result<std::vector<std::string>> damage() const;

  std::filesystem::path path_;
  mutable Mutex mutex_;
  struct Statements;
  std::unique_ptr<Database> database_ HONE_GUARDED_BY(mutex_);
  std::unique_ptr<Statements> statements_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
