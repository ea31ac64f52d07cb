// The writer's thread, and the lock that keeps other servers out.
#include "journal/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <future>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "journal/database.hpp"
#include "journal/wal_check.hpp"
#include "journal/writer.hpp"

namespace hone {
namespace {

constexpr std::size_t kBatchMax = 1024;
constexpr std::chrono::seconds kUpkeepEvery{1};
constexpr double kDay = 86400;

/// Rationale: the lock is on the file itself, whatever name it was opened with. A hard link would have its
/// own lock and write-ahead log.
Result<UniqueFd> lock_out_others(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, error);
  if (const auto names = std::filesystem::hard_link_count(file, error); !error && names > 1) {
    return failed_precondition("it has " + std::to_string(names) +
                               " names (hard links), expected one; remove the other names: "
                               "writes through one are not seen through another");
  }
  const std::string name = file.string() + ".lock";
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return system_error("open " + name, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return system_error("lock " + name, errno);
  return failed_precondition(
      "another server has this journal open; stop it, or choose another file");
}

/// Rationale: the journal contains the tokens of episodes, which are secrets, and SQLite would create a file
/// that all users can read. The write-ahead log and the shared-memory file get the same mode.
Status keep_to_ourselves(const std::filesystem::path& path) {
  const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made) return {};
  if (errno != EEXIST) return system_error("make " + path.string(), errno);
  std::error_code error;
  const auto mode = std::filesystem::status(path, error).permissions();
  constexpr auto kOthers = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  if (!error && (mode & kOthers) != std::filesystem::perms::none) {
    log_warning("journal",
                path.string() +
                    ": other users can read it, but it contains secret tokens; run chmod "
                    "600 " +
                    path.string() + "*");
  }
  return {};
}

}  // namespace

Journal::Journal(JournalOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<Journal>> Journal::open(JournalOptions options) {
  std::unique_ptr<Journal> journal(new Journal(std::move(options)));
  const std::filesystem::path& path = journal->options_.path;
  const auto fail = [&](const Error& error) { return in_journal(path, error); };
  if (Status good = expect_file_path(path); !good) return fail(good.error());
  auto lock = lock_out_others(path);
  if (!lock) return fail(lock.error());
  journal->lock_ = std::move(*lock);
  if (Status own = keep_to_ourselves(path); !own) return fail(own.error());
  if (Status whole = expect_whole_wal(path); !whole) return fail(whole.error());
  auto writer = Writer::open(path, journal->options_.vfs);
  if (!writer) return fail(writer.error());
  journal->writer_ = std::move(*writer);
  auto reader = JournalReader::open(path, journal->options_.vfs);
  if (!reader) return reader.error();
  journal->reader_ = std::move(*reader);
  Journal* self = journal.get();
  journal->thread_ = std::thread([self] { self->serve(); });
  return journal;
}

Journal::~Journal() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Journal::push(std::function<Status(Writer&)> write, Done done) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back({std::move(write), std::move(done)});
  }
  changed_.notify_one();
}

void Journal::add(EpisodeRecord episode, Done done, InheritedRecords inherited) {
  ++episodes_;
  turns_ += static_cast<std::int64_t>(inherited.turns.size());
  calls_ += static_cast<std::int64_t>(inherited.calls.size());
  std::vector<TurnRow> rows;
  for (TurnRecord& turn : inherited.turns) rows.emplace_back(std::move(turn));
  std::vector<CallRow> calls;
  for (CallRecord& call : inherited.calls) calls.emplace_back(std::move(call));
  push(
      [episode = std::move(episode), rows = std::move(rows),
       calls = std::move(calls)](Writer& w) -> Status {
        HONE_TRY(w.write(episode));
        for (const TurnRow& row : rows) HONE_TRY(w.write(row));
        for (const CallRow& call : calls) HONE_TRY(w.write(call));
        return {};
      },
      std::move(done));
}

void Journal::add(CallRecord call, Done done) {
  ++calls_;
  push([row = CallRow(std::move(call))](Writer& w) { return w.write(row); }, std::move(done));
}

void Journal::add(TurnRecord turn, Done done) {
  ++turns_;
  push([row = TurnRow(std::move(turn))](Writer& w) { return w.write(row); }, std::move(done));
}

void Journal::add(IntentRecord intent) {
  push([intent](Writer& w) { return w.write(intent); }, nullptr);
}

void Journal::release(std::uint64_t episode, RecordState state, Done done) {
  push([episode, state](Writer& w) { return w.release(episode, state, wall_s()); },
       std::move(done));
}

void Journal::sync(Done done) {
  push([](Writer&) { return Status(); }, std::move(done));
}

Status Journal::sync_and_wait() {
  std::promise<Status> synced;
  sync([&synced](const Status& done) { synced.set_value(done); });
  return synced.get_future().get();
}

void Journal::serve() {
  std::vector<Addition> batch;
  for (;;) {
    bool stop = false;
    {
      MutexLock lock(mutex_);
      if (waiting_.empty() && !stop_) changed_.wait_for(mutex_, kUpkeepEvery);
      while (!waiting_.empty() && batch.size() < kBatchMax) {
        batch.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      stop = stop_ && batch.empty();
    }
    if (stop) return;
    commit(batch);
    batch.clear();
    keep_up();
  }
}

void Journal::commit(std::vector<Addition>& batch) {
  if (batch.empty()) return;
  Status all = transact(batch.data(), batch.size());
  const bool apart = !all && batch.size() > 1;
  for (Addition& addition : batch) {
    const Status one = apart ? transact(&addition, 1) : all;
    note(one);
    if (!one) {
      ++failures_;
      log_error("journal", one.error().message);
    }
    // Moved out, so that whatever the callback holds (an episode) is released before the next one is called.
    const Done done = std::move(addition.done);
    if (done) done(one ? one : Status(one.error().in("journal")));
  }
}

Status Journal::transact(const Addition* additions, std::size_t count) {
  if (broken_) {
    return unavailable(
        "a sync failed, so the contents of the disk are unknown; restart the server");
  }
  const auto fail = [&](const Error& error) -> Status {
    broken_ = broken_ || writer_->broken();
    writer_->rollback();
    return error;
  };
  if (Status begun = writer_->begin(); !begun) return fail(begun.error());
  for (std::size_t i = 0; i < count; ++i) {
    if (Status written = additions[i].write(*writer_); !written) return fail(written.error());
  }
  if (Status committed = writer_->commit(); !committed) return fail(committed.error());
  ++syncs_;
  return {};
}

void Journal::note(const Status& written) {
  MutexLock lock(mutex_);
  problem_ = written ? "" : written.error().message;
}

std::string Journal::problem() const {
  MutexLock lock(mutex_);
  return problem_;
}

/// Deletes a few rows at a time between two commits, so that no step waits for long.
void Journal::keep_up() {
  const auto now = std::chrono::steady_clock::now();
  if (broken_ || now < upkeep_at_) return;
  upkeep_at_ = now + kUpkeepEvery;
  const bool tries = !problem().empty();
  const Addition upkeep{[this, tries](Writer& w) -> Status {
                          if (tries) HONE_TRY(w.touch());
                          Writer::Retired gone;
                          if (options_.keep_days > 0) {
                            const double before = wall_s() - kDay * options_.keep_days;
                            HONE_ASSIGN(gone, w.retire(before, 0, pace_.budget()));
                          }
                          if (options_.keep_bytes > 0 && !gone.some) {
                            HONE_ASSIGN(gone, w.retire(1e300, options_.keep_bytes, pace_.budget()));
                          }
                          if (gone.some) upkeep_at_ = {};  // there may be more to delete
                          forgotten_ += gone.episodes;
                          HONE_ASSIGN(bytes_, w.bytes());
                          return w.shrink(pace_.budget());
                        },
                        nullptr};
  const Status done = transact(&upkeep, 1);
  if (!done && !tries) log_error("journal", done.error().message);
  if (tries || !done) note(done);
  const auto took = std::chrono::duration_cast<Pace::Span>(std::chrono::steady_clock::now() - now);
  pace_.took(took);
  upkeep_ms_max_ = std::max(upkeep_ms_max_.load(), static_cast<double>(took.count()) * 1e-3);
}

Result<std::int64_t> compact_journal(const std::filesystem::path& path, double keep_days) {
  const auto fail = [&](const Error& error) { return in_journal(path, error); };
  if (Status good = expect_file_path(path); !good) return fail(good.error());
  const auto lock = lock_out_others(path);
  if (!lock) return fail(lock.error());
  auto writer = Writer::open(path, {});
  if (!writer) return fail(writer.error());
  std::int64_t gone = 0;
  const double before = wall_s() - kDay * keep_days;
  for (Writer::Retired some{0, true}; some.some; gone += some.episodes) {
    HONE_TRY((*writer)->begin());
    HONE_ASSIGN(some, (*writer)->retire(before, 0, std::chrono::seconds(1)));
    HONE_TRY((*writer)->commit());
  }
  if (Status folded = (*writer)->fold(); !folded) return fail(folded.error());
  return gone;
}

Value Journal::stats() const {
  std::size_t waiting = 0;
  {
    MutexLock lock(mutex_);
    waiting = waiting_.size();
  }
  return Value::map({{"episodes", episodes_.load()},
                     {"turns", turns_.load()},
                     {"calls", calls_.load()},
                     {"syncs", syncs_.load()},
                     {"failures", failures_.load()},
                     {"forgotten", forgotten_.load()},
                     {"upkeep_ms_max", upkeep_ms_max_.load()},
                     {"waiting", waiting},
                     {"bytes", bytes_.load()}});
}

}  // namespace hone
