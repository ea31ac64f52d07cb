// What is read, row by row.
#include "journal/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "journal/schema.hpp"

namespace hone {
namespace {

constexpr const char* kEpisodeColumns =
    "id, token, seed, environment, task, task_hash, backend, group_name, client, options, reward, "
    "reward_config, reward_version, reward_hash, opened_at, reset_key, reset_body, parent, "
    "parent_turn, state, fingerprint, changed_at, intent_turn, intent_action, intent_seed, turns";

/// `column` holds the sum of its row.
std::string is_summed(std::string_view column, std::string_view summed) {
  return std::string(column) + " IS hone_sum(" + std::string(summed) + ")";
}

/// What was read is not what was written.
Error damaged(std::uint64_t episode, const std::string& what) {
  char name[32];
  std::snprintf(name, sizeof name, "episode %016llx", static_cast<unsigned long long>(episode));
  return failed_precondition("it is damaged (" + std::string(name) + what +
                             "); see: hone journal check");
}

template <typename Array>
void copy_into(Array& array, const std::string& bytes) {
  std::memcpy(array.data(), bytes.data(), std::min(array.size(), bytes.size()));
}
std::uint64_t unsigned_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

StoredEpisode episode_of(const Statement& s) {
  StoredEpisode e;
  EpisodeRecord& r = e.record;
  r.id = unsigned_of(s.integer(0));
  copy_into(r.token, s.bytes(1));
  r.seed = unsigned_of(s.integer(2));
  r.environment = s.bytes(3);
  r.task = s.bytes(4);
  copy_into(r.task_hash, s.bytes(5));
  r.backend = s.bytes(6);
  r.group = s.bytes(7);
  r.client = s.bytes(8);
  r.options = s.bytes(9);
  r.reward = s.bytes(10);
  r.reward_config = s.bytes(11);
  r.reward_version = s.bytes(12);
  r.reward_hash = s.bytes(13);
  r.opened_at = s.number(14);
  if (!s.is_null(15)) copy_into(r.reset_key.emplace(), s.bytes(15));
  copy_into(r.reset_body, s.bytes(16));
  r.parent = unsigned_of(s.integer(17));
  r.parent_turn = s.integer(18);
  e.state = static_cast<RecordState>(s.integer(19));
  e.fingerprint = unsigned_of(s.integer(20));
  e.changed_at = s.number(21);
  if (!s.is_null(22)) {
    IntentRecord& intent = e.intent.emplace();
    intent.episode = r.id;
    intent.turn = s.integer(22);
    copy_into(intent.action, s.bytes(23));
    intent.seed = unsigned_of(s.integer(24));
  }
  return e;
}

constexpr const char* kTurnTables =
    " FROM turns JOIN blobs AS sent ON sent.id = turns.action "
    "LEFT JOIN blobs AS said ON said.id = turns.words ";

/// Whether a turn and its texts are what was stored.
std::string turn_is_summed() {
  return is_summed("turns.sum", kTurnSummed) +
         " AND turns.hash IS hone_sha256(sent.bytes)"
         " AND iif(turns.words IS NULL, 1, said.hash IS hone_sha256(said.bytes))";
}

std::shared_ptr<const std::string> shared_bytes(const Statement& s, int column) {
  return std::make_shared<const std::string>(s.bytes(column));
}

TurnRecord turn_of(const Statement& s, std::uint64_t episode) {
  TurnRecord t;
  t.episode = episode;
  t.turn = s.integer(0);
  copy_into(t.hash, s.bytes(1));
  t.action = shared_bytes(s, 2);
  t.seed = unsigned_of(s.integer(3));
  t.outcome = s.integer(4);
  t.scored = s.integer(5) != 0;
  t.speedup = s.number(6);
  t.reward = s.number(7);
  t.fingerprint = unsigned_of(s.integer(8));
  t.ended = s.integer(9) != 0;
  t.at = s.number(10);
  t.reply = shared_bytes(s, 11);
  if (!s.is_null(12)) t.words = shared_bytes(s, 12);
  return t;
}

}  // namespace

struct JournalReader::Statements {
  Statement episode, turns, reset;
};

JournalReader::JournalReader() = default;
JournalReader::~JournalReader() {
  MutexLock lock(mutex_);
  statements_.reset();  // before the database they belong to
}

Result<std::unique_ptr<JournalReader>> JournalReader::open(const std::filesystem::path& path,
                                                           const std::string& vfs) {
  const auto fail = [&](const Error& error) { return error.in("journal " + path.string()); };
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return fail(not_found("there is none"));
  std::unique_ptr<JournalReader> reader(new JournalReader());
  MutexLock lock(reader->mutex_);
  auto database = Database::open(path, Database::Mode::kRead, vfs);
  if (!database) return database.error();
  reader->database_ = std::move(*database);
  Database& d = *reader->database_;
  if (Status schema = check_schema(d); !schema) return fail(schema.error());
  reader->statements_ = std::make_unique<Statements>();
  const std::pair<Statement*, std::string> statements[] = {
      {&reader->statements_->episode,
       std::string("SELECT ") + kEpisodeColumns + ", " + is_summed("sum", kEpisodeSummed) +
           " FROM episodes WHERE id = ?1 AND held >= ?2 AND state != 4"},
      {&reader->statements_->turns,
       "SELECT turn, turns.hash, sent.bytes, seed, outcome, scored, speedup, reward, fingerprint, "
       "ended, at, hone_unpack(reply, sent.bytes, said.bytes), said.bytes, " +
           turn_is_summed() + kTurnTables + "WHERE episode = ?1 ORDER BY turn"},
      {&reader->statements_->reset,
       "SELECT id, reset_body FROM episodes WHERE held = 1 AND reset_key = ?1"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = d.prepare(sql);
    if (!prepared) return fail(prepared.error());
    *statement = std::move(*prepared);
  }
  return reader;
}

Result<std::optional<StoredEpisode>> JournalReader::read(std::uint64_t id, bool held_only) const {
  const auto number = static_cast<std::int64_t>(id);
  Statement& one = statements_->episode;
  HONE_ASSIGN(const bool found, one.start({number, std::int64_t{held_only}}));
  if (!found) return std::optional<StoredEpisode>();
  StoredEpisode episode = episode_of(one);
  const std::int64_t turns = one.integer(25);
  const bool sound = one.integer(26) != 0;
  Status read = sound ? read_turns(episode) : damaged(id, " is not what was stored");
  // Not before: an open row keeps what the turns are read from as it was when the row was.
  HONE_ASSIGN([[maybe_unused]] const bool more, one.next());
  HONE_TRY(read);
  const auto found_turns = static_cast<std::int64_t>(episode.turns.size());
  if (found_turns != turns) {
    return damaged(id, ": found " + std::to_string(found_turns) + " turns, stored were " +
                           std::to_string(turns));
  }
  return std::optional(std::move(episode));
}

Status JournalReader::read_turns(StoredEpisode& episode) const {
  const std::uint64_t id = episode.record.id;
  Statement& turns = statements_->turns;
  HONE_ASSIGN(bool row, turns.start({static_cast<std::int64_t>(id)}));
  while (row) {
    episode.turns.push_back(turn_of(turns, id));
    const std::int64_t turn = episode.turns.back().turn;
    if (turns.integer(13) == 0 || turn != static_cast<std::int64_t>(episode.turns.size())) {
      turns.stop();
      return damaged(id, ", turn " + std::to_string(turn) + " is not what was stored");
    }
    HONE_ASSIGN(row, turns.next());
  }
  return {};
}

Result<std::optional<StoredEpisode>> JournalReader::episode(std::uint64_t id) const {
  MutexLock lock(mutex_);
  return read(id, false);
}

Result<std::optional<StoredEpisode>> JournalReader::held_episode(std::uint64_t id) const {
  MutexLock lock(mutex_);
  return read(id, true);
}

Result<std::optional<std::pair<std::uint64_t, Sha256>>> JournalReader::held_reset(
    const Sha256& key) const {
  MutexLock lock(mutex_);
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  std::optional<std::pair<std::uint64_t, Sha256>> found;
  HONE_ASSIGN(const bool row, statements_->reset.start({Blob{bytes}}));
  if (!row) return found;
  found.emplace(unsigned_of(statements_->reset.integer(0)), Sha256{});
  copy_into(found->second, statements_->reset.bytes(1));
  HONE_ASSIGN([[maybe_unused]] const bool more, statements_->reset.next());
  return found;
}

Result<std::vector<JournalReader::Held>> JournalReader::held() const {
  MutexLock lock(mutex_);
  HONE_ASSIGN(Statement all,
              database_->prepare("SELECT id, client, state FROM episodes WHERE held = 1"));
  std::vector<Held> found;
  HONE_ASSIGN(bool row, all.start({}));
  while (row) {
    found.push_back({unsigned_of(all.integer(0)), all.bytes(1), all.integer(2) != 0});
    HONE_ASSIGN(row, all.next());
  }
  return found;
}

namespace {

/// The condition and its cells for a filter.
std::pair<std::string, std::vector<SqlValue>> where(const EpisodeFilter& filter) {
  std::string sql = " WHERE state != 4";
  std::vector<SqlValue> cells;
  const auto also = [&](const char* column, SqlValue cell) {
    cells.push_back(cell);
    sql += std::string(" AND ") + column + " = ?" + std::to_string(cells.size());
  };
  if (filter.state) also("state", static_cast<std::int64_t>(*filter.state));
  if (!filter.task.empty()) also("task", std::string_view(filter.task));
  if (!filter.client.empty()) also("client", std::string_view(filter.client));
  if (!filter.group.empty()) also("group_name", std::string_view(filter.group));
  return {sql, cells};
}

}  // namespace

Result<std::vector<EpisodeLine>> JournalReader::list(const EpisodeFilter& filter) const {
  auto [condition, cells] = where(filter);
  const std::string limit =
      filter.limit > 0 ? " LIMIT " + std::to_string(filter.limit) : std::string();
  MutexLock lock(mutex_);
  HONE_ASSIGN(
      Statement all,
      database_->prepare(
          "SELECT id, task, client, group_name, reward, state, opened_at, changed_at, "
          "(SELECT count(*) FROM turns WHERE episode = episodes.id), "
          "(SELECT max(speedup) FROM turns WHERE episode = episodes.id), "
          "(SELECT reward FROM turns WHERE episode = episodes.id ORDER BY turn DESC LIMIT 1) "
          "FROM episodes" +
          condition + " ORDER BY opened_at DESC, id" + limit));
  std::vector<EpisodeLine> lines;
  HONE_ASSIGN(bool row, all.start(cells));
  while (row) {
    lines.push_back({unsigned_of(all.integer(0)), all.bytes(1), all.bytes(2), all.bytes(3),
                     all.bytes(4), static_cast<RecordState>(all.integer(5)), all.integer(8),
                     all.number(9), all.number(10), all.number(6), all.number(7)});
    HONE_ASSIGN(row, all.next());
  }
  return lines;
}

Result<std::vector<std::uint64_t>> JournalReader::ids(const EpisodeFilter& filter) const {
  auto [condition, cells] = where(filter);
  HONE_ASSIGN(Statement all, database_->prepare("SELECT id FROM episodes" + condition +
                                                " ORDER BY opened_at, id"));
  std::vector<std::uint64_t> found;
  HONE_ASSIGN(bool row, all.start(cells));
  while (row) {
    found.push_back(unsigned_of(all.integer(0)));
    HONE_ASSIGN(row, all.next());
  }
  return found;
}

Status JournalReader::each(const EpisodeFilter& filter,
                           const std::function<Status(const StoredEpisode&)>& visit,
                           const std::function<void(const Error&)>& damaged) const {
  std::vector<std::uint64_t> all;
  {
    MutexLock lock(mutex_);
    HONE_ASSIGN(all, ids(filter));
  }
  for (const std::uint64_t id : all) {
    const auto one = episode(id);
    if (!one) {
      if (!damaged || one.error().code != Code::kFailedPrecondition) return one.error();
      damaged(one.error());
    } else if (*one) {  // else it was retired meanwhile
      HONE_TRY(visit(**one));
    }
  }
  return {};
}

Result<std::vector<std::string>> JournalReader::check() const {
  MutexLock lock(mutex_);
  std::vector<std::string> wrong;
  const std::pair<const char*, std::string> queries[] = {
      {"", "SELECT * FROM pragma_integrity_check WHERE integrity_check != 'ok'"},
      {"a reference to nothing: ",
       "SELECT \"table\" || ' row ' || rowid FROM pragma_foreign_key_check"},
      {"turns are missing: ",
       "SELECT printf('episode %016x has %d, the last is %d', episode, count(*), max(turn)) "
       "FROM turns GROUP BY episode HAVING count(*) != max(turn) OR min(turn) != 1"},
      {"a turn after the last: ",
       "SELECT printf('episode %016x, turn %d', a.episode, a.turn) FROM turns a JOIN turns b "
       "ON a.episode = b.episode AND b.ended = 1 AND a.turn > b.turn"},
      {"turns are missing: ",
       "SELECT printf('episode %016x, turn %d of %d', id, turns, turns) FROM episodes WHERE "
       "state != 4 AND turns != (SELECT count(*) FROM turns WHERE episode = episodes.id)"},
      {"ended without a last turn: ",
       "SELECT printf('episode %016x', id) FROM episodes WHERE state = 1 AND NOT EXISTS "
       "(SELECT 1 FROM turns WHERE episode = episodes.id AND ended = 1)"},
      {"uses miscounted: ",
       "SELECT printf('blob %d: %d, counted %d', id, uses, ifnull(counted, 0)) FROM blobs "
       "LEFT JOIN (SELECT used, count(*) AS counted FROM (SELECT action AS used FROM turns UNION "
       "ALL "
       "SELECT words FROM turns WHERE words IS NOT NULL) GROUP BY used) "
       "ON used = id WHERE uses != ifnull(counted, 0)"},
      {"", "SELECT printf('episode %016x is not what was stored', id) FROM episodes WHERE NOT (" +
               is_summed("sum", kEpisodeSummed) + ")"},
      {"", "SELECT printf('episode %016x, turn %d is not what was stored', episode, turn)" +
               std::string(kTurnTables) + "WHERE NOT (" + turn_is_summed() + ")"}};
  for (const auto& [what, sql] : queries) {
    HONE_ASSIGN(Statement query, database_->prepare(sql));
    HONE_ASSIGN(bool row, query.start({}));
    while (row) {
      wrong.push_back(what + query.bytes(0));
      HONE_ASSIGN(row, query.next());
    }
  }
  HONE_ASSIGN(Statement blobs, database_->prepare("SELECT id, hash, bytes FROM blobs"));
  HONE_ASSIGN(bool row, blobs.start({}));
  while (row) {
    Sha256 stored{};
    copy_into(stored, blobs.bytes(1));
    if (stored != sha256(blobs.bytes(2))) {
      wrong.push_back("blob " + std::to_string(blobs.integer(0)) + " is not what was stored");
    }
    HONE_ASSIGN(row, blobs.next());
  }
  return wrong;
}

Status JournalReader::copy_to(const std::filesystem::path& path) const {
  MutexLock lock(mutex_);
  return database_->copy_to(path);
}

}  // namespace hone
