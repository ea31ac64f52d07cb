// Journal: episodes and turns on disk, before anybody hears of them.
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
  std::filesystem::path path;   ///< of the database; "-wal", "-shm" and ".lock" lie beside it
  double keep_days = 0;         ///< episodes that nobody holds go after so long; 0: never
  std::int64_t keep_bytes = 0;  ///< the oldest of them go above this size of the file; 0: never
  std::string vfs{};            ///< SQLite's file functions; tests name their own
};

/// Theory of operation. One thread writes. What is added waits in a queue; the thread takes all
/// that waits, writes it in one transaction, syncs it, and then tells everybody who added: a
/// hundred steps cost one sync. Where a transaction fails, each of its additions is tried again in
/// one of its own, so that a failure hits whom it belongs to. Whoever added hears of it exactly
/// once, on the writer's thread, in the order of adding; what was told "done" survives kill -9 and
/// power loss. After a failed sync nothing is accepted until the server is started again, because
/// nobody knows what is on the disk.
///
/// [any thread] All members.
class Journal {
 public:
  using Done = std::function<void(const Status&)>;

  /// Makes it where there is none, brings an older schema up to date, and keeps other servers out.
  /// failed_precondition: another server has it, it is damaged, newer than this program, or cannot
  /// be written.
  static Result<std::unique_ptr<Journal>> open(JournalOptions options);
  /// Writes what waits.
  ~Journal();

  /// `turns`: those that it begins with, for a branch.
  void add(EpisodeRecord episode, Done done, std::vector<TurnRecord> turns = {});
  void add(TurnRecord turn, Done done);
  /// Nobody waits for an intent: without it, a step that was lost is only drawn anew.
  void add(IntentRecord intent);
  /// Nobody holds the episode any longer; `state` unless it had ended by itself.
  void release(std::uint64_t episode, RecordState state, Done done);
  /// After all that was added before.
  void sync(Done done);

  /// Reads see what was told "done" before.
  const JournalReader& reader() const { return *reader_; }

  /// Why the last write failed, until one succeeds; empty: nothing is wrong. Upkeep retries a
  /// write.
  std::string problem() const;
  /// {"episodes", "turns", "syncs", "failures", "forgotten", "upkeep_ms_max", "waiting", "bytes"}
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
  // Below: the thread's own, once it runs.
  std::unique_ptr<Writer> writer_;
  bool broken_ = false;
  std::chrono::steady_clock::time_point upkeep_at_{};
  Pace pace_;
  // Above.
  std::atomic<std::int64_t> episodes_{0}, turns_{0}, syncs_{0}, failures_{0}, bytes_{0},
      forgotten_{0};
  std::atomic<double> upkeep_ms_max_{0};
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Addition> waiting_ HONE_GUARDED_BY(mutex_);
  bool stop_ HONE_GUARDED_BY(mutex_) = false;
  std::string problem_ HONE_GUARDED_BY(mutex_);
  std::thread thread_;
};

/// With no server on it: forgets the released episodes of more than `keep_days` and gives the file's
/// free space back. How many went.
Result<std::int64_t> compact_journal(const std::filesystem::path& path, double keep_days);

}  // namespace hone
