// Writer: the journal's one writing connection and its statements.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/database.hpp"
#include "journal/records.hpp"

namespace hone {

/// A turn or a tool call in its stored form: the reply without repeated text, and hashes.
template <typename Record>
struct StoredRow {
  explicit StoredRow(Record given);

  Record record;
  Sha256 reply_hash{};
  std::string reply;
  std::optional<Sha256> words_hash;
};
using TurnRow = StoredRow<TurnRecord>;
using CallRow = StoredRow<CallRecord>;

/// One thread at a time. The caller brackets writes with begin() and commit() or rollback().
class Writer {
 public:
  static Result<std::unique_ptr<Writer>> open(const std::filesystem::path& path,
                                              const std::string& vfs);

  Status begin() { return database_->execute("BEGIN IMMEDIATE"); }
  Status commit() { return database_->execute("COMMIT"); }
  void rollback() { static_cast<void>(database_->execute("ROLLBACK")); }
  bool broken() const { return database_->broken(); }

  Status write(const EpisodeRecord& episode);
  Status write(const TurnRow& row);
  Status write(const CallRow& row);
  Status write(const IntentRecord& intent);
  Status release(std::uint64_t episode, RecordState state, double now);

  /// Writes a page without changing it, to test whether the journal can be written.
  Status touch();

  struct Retired {
    int episodes = 0;   ///< number of deleted episodes
    bool some = false;  ///< at least one row was deleted, so there may be more
  };
  /// Deletes released episodes that are older than `before` (seconds since 1970), or the oldest ones while
  /// the file is larger than `bytes` (0: no limit), row by row until `budget` is used up.
  Result<Retired> retire(double before, std::int64_t bytes, std::chrono::microseconds budget);
  /// Returns free pages to the file system until `budget` is used up.
  Status shrink(std::chrono::microseconds budget);
  Result<std::int64_t> bytes();
  /// Rewrites the file without free pages and checkpoints the log. Has no time limit.
  Status fold();

 private:
  Writer() = default;
  Result<std::int64_t> blob(const Sha256& hash, const std::string& bytes);
  /// Stores the compiler output of a row, if it is stored apart, and returns its id; otherwise null.
  template <typename Record>
  Result<SqlValue> words_of(const StoredRow<Record>& row);
  Status change_episode(Statement& statement, const std::vector<SqlValue>& cells);
  /// Deletes the last turn or call of an episode, and its texts if nothing else uses them. False: there is none.
  Result<bool> drop_last(Statement& statement, std::int64_t episode);

  std::unique_ptr<Database> database_;
  Statement add_episode_, add_turn_, end_turn_, intend_, release_, find_blob_, use_blob_, add_blob_,
      oldest_, forget_, drop_turn_, drop_use_, drop_blob_, drop_episode_, add_call_, drop_call_;
};

}  // namespace hone
