// Journal: writes episodes and turns to disk before their replies are sent.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/unique_fd.hpp"
#include "journal/pace.hpp"
#include "journal/reader.hpp"
#include "model/value.hpp"

namespace hone {

class Writer;

struct JournalOptions {
  std::filesystem::path
      path;  ///< the database file; SQLite adds "-wal" and "-shm" files, and hone adds ".lock"
  double keep_days = 0;  ///< age after which released episodes are deleted; 0: never
  std::int64_t keep_bytes =
      0;  ///< file size above which the oldest released episodes are deleted; 0: no limit
  std::string vfs{};  ///< name of SQLite's file functions; for tests
};

/// Theory of operation. One thread writes. What is added waits in a queue; the thread takes all
/// that waits, writes it in one transaction, syncs it, and then tells everybody who added: a
/// hundred steps cost one sync. Where a transaction fails, each of its additions is tried again in
/// one of its own, so that a failure hits whom it belongs to. Whoever added hears of it exactly
/// once, on the writer's thread, in the order of adding; what was told "done" survives kill -9 and
/// power loss. After a failed sync the journal accepts nothing until the server restarts, because the contents of the disk are unknown.
///
/// [any thread] All members.
class Journal {
 public:
  using Done = std::function<void(const Status&)>;

  /// Creates the journal if there is none, migrates an older schema, and locks out other servers.
  /// failed_precondition: another server has locked it, it is damaged or newer than this program, or it
  /// cannot be written.
  static Result<std::unique_ptr<Journal>> open(JournalOptions options);
  /// Writes all queued records.
  ~Journal();

  /// `inherited`: of a branch.
  void add(EpisodeRecord episode, Done done, InheritedRecords inherited = {});
  void add(TurnRecord turn, Done done);
  void add(CallRecord call, Done done);
  /// No reply waits for an intent. If it is lost, a repeated step only gets new secret inputs.
  void add(IntentRecord intent);
  /// Releases the episode with this state, unless it has already ended.
  void release(std::uint64_t episode, RecordState state, Done done);
  /// Called after everything that was added before is written.
  void sync(Done done);
  /// The same, and waits. Not from a callback of the journal.
  Status sync_and_wait();

  /// A reader. It sees everything that was reported as done.
  const JournalReader& reader() const { return *reader_; }

  /// Why the last write failed, until a write succeeds; empty: no error. Writes are also retried during
  /// upkeep.
  std::string problem() const;
  /// {"episodes", "turns", "calls", "syncs", "failures", "forgotten", "upkeep_ms_max", "waiting", "bytes"}
  Value stats() const;

 private:
  struct Addition {
    std::function<Status(Writer&)> write;
    Done done;
  };
  explicit Journal(JournalOptions options);
  void push(std::function<Status(Writer&)> write, Done done);
  void serve();
  void commit(std::vector<Addition>& batch);
  Status transact(const Addition* additions, std::size_t count);
  void keep_up();
  void note(const Status& written);

  const JournalOptions options_;
  UniqueFd lock_;
  std::unique_ptr<JournalReader> reader_;
  // Used by the writer's thread only, once it runs.
  std::unique_ptr<Writer> writer_;
  bool broken_ = false;
  std::chrono::steady_clock::time_point upkeep_at_{};
  Pace pace_;
  // Used by the members above.
  std::atomic<std::int64_t> episodes_{0}, turns_{0}, calls_{0}, syncs_{0}, failures_{0}, bytes_{0},
      forgotten_{0};
  std::atomic<double> upkeep_ms_max_{0};
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Addition> waiting_ HONE_GUARDED_BY(mutex_);
  bool stop_ HONE_GUARDED_BY(mutex_) = false;
  std::string problem_ HONE_GUARDED_BY(mutex_);
  std::thread thread_;
};

/// Without a server: deletes released episodes older than `keep_days`, and returns free space to the file
/// system. Returns the number of deleted episodes.
Result<std::int64_t> compact_journal(const std::filesystem::path& path, double keep_days);

}  // namespace hone
