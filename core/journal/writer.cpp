// Writes the journal row by row.
#include "journal/writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "journal/repeats.hpp"
#include "journal/schema.hpp"

namespace hone {
namespace {

constexpr std::size_t kWordsMin =
    256;  // shortest text with its own row, which costs about a hundred bytes
constexpr int kRetiredAtOnce = 16;
constexpr int kPagesAtOnce = 16;

template <typename Bytes>
Blob blob_of(const Bytes& bytes) {
  return {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}
std::int64_t number_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
SqlValue number_or_null(double number) {
  return std::isnan(number) ? SqlValue() : SqlValue(number);
}

SqlValue blob_or_null(const std::optional<Sha256>& hash) {
  return hash ? SqlValue(blob_of(*hash)) : SqlValue();
}

/// Changes the columns and the checksum of episode ?1, if its row is intact.
std::string change(const std::vector<std::pair<std::string_view, std::string_view>>& columns) {
  std::string sql = "UPDATE episodes SET ", summed;
  for (const auto& [column, value] : columns) {
    sql += std::string(column) + " = " + std::string(value) + ", ";
  }
  for (const std::string_view column : kEpisodeLive) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const auto& one) { return one.first == column; });
    summed +=
        (summed.empty() ? "" : ", ") + std::string(found == columns.end() ? column : found->second);
  }
  return sql + "live = hone_sum(" + summed + ") WHERE id = ?1 AND " + live_is_summed();
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(const std::filesystem::path& path,
                                             const std::string& vfs) {
  std::unique_ptr<Writer> writer(new Writer());
  HONE_ASSIGN(writer->database_, Database::open(path, Database::Mode::kWrite, vfs));
  Database& d = *writer->database_;
  HONE_TRY(prepare_schema(d));
  // FULL: a committed transaction is on the disk, not only in the page cache.
  HONE_TRY(
      d.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON"));
  const std::pair<Statement*, std::string> statements[] = {
      {&writer->add_episode_,
       "INSERT INTO episodes (id, token, seed, environment, task, task_hash, backend, group_name, "
       "client, options, reward, reward_config, reward_version, reward_hash, opened_at, reset_key, "
       "reset_body, parent, parent_turn, changed_at, live, sum) "
       "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?15,"
       "hone_sum(?1, 0, 1, 0, ?15, NULL, NULL, NULL, 0),"
       "hone_sum(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19))"},
      {&writer->add_turn_,
       "INSERT INTO turns (episode, turn, hash, action, seed, outcome, scored, speedup, reward, "
       "fingerprint, ended, at, reply, words, sum) "
       "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,"
       "hone_sum(?1,?2,?3,?5,?6,?7,?8,?9,?10,?11,?12,?15,?16))"},
      {&writer->end_turn_, change({{"changed_at", "?2"},
                                   {"state", "iif(?3, 1, state)"},
                                   {"intent_turn", "NULL"},
                                   {"fingerprint", "iif(fingerprint = 0, ?4, fingerprint)"},
                                   {"turns", "?5"}})},
      {&writer->intend_,
       change({{"intent_turn", "?2"}, {"intent_action", "?3"}, {"intent_seed", "?4"}})},
      {&writer->release_, change({{"held", "0"},
                                  {"state", "iif(state = 0, ?2, state)"},
                                  {"changed_at", "iif(state = 0, ?3, changed_at)"}})},
      {&writer->find_blob_, "SELECT id FROM blobs WHERE hash = ?1"},
      {&writer->use_blob_, "UPDATE blobs SET uses = uses + 1 WHERE id = ?1"},
      {&writer->add_blob_, "INSERT INTO blobs (hash, uses, bytes) VALUES (?1, 1, ?2) RETURNING id"},
      {&writer->oldest_, "SELECT id, state FROM episodes WHERE held = 0 AND changed_at < ?1 AND " +
                             live_is_summed() + " ORDER BY changed_at LIMIT 1"},
      {&writer->forget_, change({{"state", "4"}})},
      {&writer->drop_turn_,
       "DELETE FROM turns WHERE episode = ?1 AND turn = "
       "(SELECT max(turn) FROM turns WHERE episode = ?1) RETURNING action, words"},
      {&writer->drop_use_, "UPDATE blobs SET uses = uses - 1 WHERE id = ?1"},
      {&writer->drop_blob_, "DELETE FROM blobs WHERE id = ?1 AND uses = 0"},
      {&writer->drop_episode_, "DELETE FROM episodes WHERE id = ?1"},
      {&writer->add_call_,
       "INSERT INTO calls (episode, turn, call, hash, tool, at, action, reply, words, sum) VALUES "
       "(?1,?2,?3,?4,?5,?6,?7,?8,?9,hone_sum(?1,?2,?3,?4,?5,?6,?10,?11))"},
      {&writer->drop_call_,
       "DELETE FROM calls WHERE rowid = (SELECT rowid FROM calls WHERE episode = ?1 "
       "ORDER BY turn DESC, call DESC LIMIT 1) RETURNING action, words"}};
  for (const auto& [statement, sql] : statements) {
    HONE_ASSIGN(*statement, d.prepare(sql));
  }
  return writer;
}

Status Writer::write(const EpisodeRecord& e) {
  return add_episode_.run({number_of(e.id), blob_of(e.token), number_of(e.seed),
                           std::string_view(e.environment), std::string_view(e.task),
                           blob_of(e.task_hash), std::string_view(e.backend),
                           std::string_view(e.group), std::string_view(e.client), Blob{e.options},
                           std::string_view(e.reward), Blob{e.reward_config},
                           std::string_view(e.reward_version), std::string_view(e.reward_hash),
                           e.opened_at, e.reset_key ? SqlValue(blob_of(*e.reset_key)) : SqlValue(),
                           blob_of(e.reset_body), number_of(e.parent), e.parent_turn});
}

Result<std::int64_t> Writer::blob(const Sha256& hash, const std::string& bytes) {
  HONE_ASSIGN(const bool known, find_blob_.start({blob_of(hash)}));
  if (known) {
    const std::int64_t id = find_blob_.integer(0);
    // An unfinished statement would prevent a checkpoint of the write-ahead log.
    HONE_ASSIGN([[maybe_unused]] const bool more, find_blob_.next());
    HONE_TRY(use_blob_.run({id}));
    return id;
  }
  HONE_ASSIGN([[maybe_unused]] const bool row, add_blob_.start({blob_of(hash), Blob{bytes}}));
  const std::int64_t id = add_blob_.integer(0);
  HONE_ASSIGN([[maybe_unused]] const bool more, add_blob_.next());
  return id;
}

/// Long compiler output gets a hash, because it is stored once for all replies.
template <typename Record>
StoredRow<Record>::StoredRow(Record given)
    : record(std::move(given)), reply_hash(sha256(*record.reply)) {
  const bool apart = record.words != nullptr && record.words->size() >= kWordsMin;
  if (apart) words_hash = sha256(*record.words);
  reply = without_repeats(*record.reply, *record.action,
                          apart ? std::string_view(*record.words) : std::string_view());
}
template struct StoredRow<TurnRecord>;
template struct StoredRow<CallRecord>;

template <typename Record>
Result<SqlValue> Writer::words_of(const StoredRow<Record>& row) {
  if (!row.words_hash) return SqlValue();
  HONE_ASSIGN(const std::int64_t id, blob(*row.words_hash, *row.record.words));
  return SqlValue(id);
}

Status Writer::write(const TurnRow& row) {
  const TurnRecord& t = row.record;
  HONE_ASSIGN(const std::int64_t action, blob(t.hash, *t.action));
  HONE_ASSIGN(const SqlValue words, words_of(row));
  HONE_TRY(add_turn_.run({number_of(t.episode), t.turn, blob_of(t.hash), action, number_of(t.seed),
                          std::string_view(t.outcome), std::int64_t{t.scored},
                          number_or_null(t.speedup), number_or_null(t.reward),
                          number_of(t.fingerprint), std::int64_t{t.ended}, t.at, Blob{row.reply},
                          words, blob_of(row.reply_hash), blob_or_null(row.words_hash)}));
  return change_episode(end_turn_, {number_of(t.episode), t.at, std::int64_t{t.ended},
                                    number_of(t.fingerprint), t.turn});
}

Status Writer::write(const CallRow& row) {
  const CallRecord& c = row.record;
  HONE_ASSIGN(const std::int64_t action, blob(c.hash, *c.action));
  HONE_ASSIGN(const SqlValue words, words_of(row));
  return add_call_.run({number_of(c.episode), c.turn, c.call, blob_of(c.hash),
                        std::string_view(c.tool), c.at, action, Blob{row.reply}, words,
                        blob_of(row.reply_hash), blob_or_null(row.words_hash)});
}

/// The first of `cells` is the id.
Status Writer::change_episode(Statement& statement, const std::vector<SqlValue>& cells) {
  HONE_TRY(statement.run(cells));
  if (database_->changes() == 1) return {};
  char name[32];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(std::get<std::int64_t>(cells.front())));
  return failed_precondition("episode " + std::string(name) +
                             " is missing or damaged; see: hone journal check");
}

Status Writer::write(const IntentRecord& i) {
  return change_episode(intend_,
                        {number_of(i.episode), i.turn, blob_of(i.action), number_of(i.seed)});
}

Status Writer::release(std::uint64_t episode, RecordState state, double now) {
  return change_episode(release_, {number_of(episode), static_cast<std::int64_t>(state), now});
}

Status Writer::touch() {
  HONE_ASSIGN(const std::int64_t version, database_->number("PRAGMA user_version"));
  return database_->execute("PRAGMA user_version = " + std::to_string(version));
}

/// The last one goes first, so that the rest has no gap.
Result<bool> Writer::drop_last(Statement& statement, std::int64_t episode) {
  HONE_ASSIGN(const bool found, statement.start({episode}));
  if (!found) return false;
  std::vector<std::int64_t> used{statement.integer(0)};
  if (!statement.is_null(1)) used.push_back(statement.integer(1));
  HONE_ASSIGN([[maybe_unused]] const bool more, statement.next());
  for (const std::int64_t blob : used) {
    HONE_TRY(drop_use_.run({blob}));
    HONE_TRY(drop_blob_.run({blob}));
  }
  return true;
}

Result<Writer::Retired> Writer::retire(double before, std::int64_t limit,
                                       std::chrono::microseconds budget) {
  const auto until = std::chrono::steady_clock::now() + budget;
  Retired retired;
  HONE_ASSIGN(const std::int64_t held, bytes());
  if (limit > 0 && held <= limit) return retired;
  do {
    HONE_ASSIGN(const bool found, oldest_.start({before}));
    if (!found) break;
    const std::int64_t episode = oldest_.integer(0);
    const bool forgotten = oldest_.integer(1) == static_cast<std::int64_t>(RecordState::kForgotten);
    HONE_ASSIGN([[maybe_unused]] const bool more, oldest_.next());
    retired.some = true;
    if (!forgotten) HONE_TRY(change_episode(forget_, {episode}));
    bool left = true;
    for (Statement* statement : {&drop_call_, &drop_turn_}) {
      left = true;
      while (left && std::chrono::steady_clock::now() < until) {
        HONE_ASSIGN(left, drop_last(*statement, episode));
      }
      if (left) break;
    }
    if (left) break;
    HONE_TRY(drop_episode_.run({episode}));
    ++retired.episodes;
  } while (retired.episodes < kRetiredAtOnce && std::chrono::steady_clock::now() < until);
  return retired;
}

Status Writer::shrink(std::chrono::microseconds budget) {
  const auto until = std::chrono::steady_clock::now() + budget;
  HONE_ASSIGN(std::int64_t left, database_->number("PRAGMA freelist_count"));
  HONE_ASSIGN(Statement vacuum, database_->prepare("PRAGMA incremental_vacuum(" +
                                                   std::to_string(kPagesAtOnce) + ")"));
  for (; left > 0 && std::chrono::steady_clock::now() < until; left -= kPagesAtOnce) {
    HONE_TRY(vacuum.run({}));
  }
  return {};
}

Status Writer::fold() {
  HONE_TRY(database_->execute("VACUUM"));
  return database_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Bytes in use. Free pages are reused before the file grows.
Result<std::int64_t> Writer::bytes() {
  HONE_ASSIGN(const std::int64_t pages, database_->number("PRAGMA page_count"));
  HONE_ASSIGN(const std::int64_t free, database_->number("PRAGMA freelist_count"));
  HONE_ASSIGN(const std::int64_t size, database_->number("PRAGMA page_size"));
  return (pages - free) * size;
}

}  // namespace hone
