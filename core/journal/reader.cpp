// Reads the journal row by row.
#include "journal/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "journal/database.hpp"
#include "journal/schema.hpp"
#include "journal/wal_check.hpp"

namespace hone {
namespace {

constexpr const char* kEpisodeColumns =
    "id, token, seed, environment, task, task_hash, backend, group_name, client, options, reward, "
    "reward_config, reward_version, reward_hash, opened_at, reset_key, reset_body, parent, "
    "parent_turn, state, fingerprint, changed_at, intent_turn, intent_action, intent_seed, turns, "
    "held, ";

constexpr const char* kSpoilt = " does not match its checksum";

/// The error for an episode with a row that is damaged or missing.
Error damaged(const Database& database, std::uint64_t episode, const std::string& what) {
  char name[32];
  std::snprintf(name, sizeof name, "episode %016llx", static_cast<unsigned long long>(episode));
  return database.damage(name + what);
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
  t.outcome = s.bytes(4);
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

CallRecord call_of(const Statement& s, std::uint64_t episode) {
  CallRecord c;
  c.episode = episode;
  c.turn = s.integer(0);
  c.call = s.integer(1);
  copy_into(c.hash, s.bytes(2));
  c.tool = s.bytes(3);
  c.at = s.number(4);
  c.action = shared_bytes(s, 5);
  c.reply = shared_bytes(s, 6);
  if (!s.is_null(7)) c.words = shared_bytes(s, 7);
  return c;
}

}  // namespace

struct JournalReader::Statements {
  Statement episode, turns, calls, reset, reply;
};

JournalReader::JournalReader(std::filesystem::path path) : path_(std::move(path)) {}
JournalReader::~JournalReader() {
  MutexLock lock(mutex_);
  statements_.reset();  // before the database they belong to
}

Result<std::unique_ptr<JournalReader>> JournalReader::open(const std::filesystem::path& path,
                                                           const std::string& vfs) {
  const auto fail = [&](const Error& error) { return in_journal(path, error); };
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return fail(not_found("no such file"));
  if (Status good = expect_file_path(path); !good) return fail(good.error());
  if (Status whole = expect_whole_wal(path); !whole) return fail(whole.error());
  std::unique_ptr<JournalReader> reader(new JournalReader(path));
  MutexLock lock(reader->mutex_);
  auto database = Database::open(path, Database::Mode::kRead, vfs);
  if (!database) return fail(database.error());
  reader->database_ = std::move(*database);
  Database& d = *reader->database_;
  if (Status schema = check_schema(d); !schema) return fail(schema.error());
  reader->statements_ = std::make_unique<Statements>();
  const std::pair<Statement*, std::string> statements[] = {
      {&reader->statements_->episode, std::string("SELECT ") + kEpisodeColumns +
                                          episode_is_summed() + " FROM episodes WHERE id = ?1"},
      {&reader->statements_->turns,
       "SELECT turn, turns.hash, sent.bytes, seed, outcome, scored, speedup, reward, fingerprint, "
       "ended, at, hone_unpack(reply, sent.bytes, said.bytes), said.bytes, " +
           turn_is_summed() + kTurnTables + "WHERE episode = ?1 ORDER BY turn"},
      {&reader->statements_->calls,
       "SELECT turn, call, calls.hash, tool, at, sent.bytes, "
       "hone_unpack(reply, sent.bytes, said.bytes), said.bytes, " +
           call_is_summed() + kCallTables + "WHERE episode = ?1 ORDER BY turn, call"},
      {&reader->statements_->reset,
       "SELECT id, reset_body FROM episodes WHERE held = 1 AND reset_key = ?1"},
      {&reader->statements_->reply,
       std::string("SELECT hone_unpack(reply, sent.bytes, said.bytes)") + kTurnTables +
           "WHERE episode = ?1 AND turn = ?2"}};
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
  HONE_ASSIGN(const bool found, one.start({number}));
  if (!found) return std::optional<StoredEpisode>();
  StoredEpisode episode = episode_of(one);
  const std::int64_t turns = one.integer(25);
  const bool sound = one.integer(27) != 0;
  // Checked here and not by the query, because the state itself may be damaged.
  const bool hidden =
      episode.state == RecordState::kForgotten || (held_only && one.integer(26) == 0);
  Status read = !sound ? damaged(*database_, id, kSpoilt) : Status();
  if (read && !hidden) read = read_turns(episode);
  if (read && !hidden) read = read_calls(episode);
  // Not earlier: an open row keeps the snapshot from which the turns are read.
  HONE_ASSIGN([[maybe_unused]] const bool more, one.next());
  HONE_TRY(read);
  if (hidden) return std::optional<StoredEpisode>();
  const auto found_turns = static_cast<std::int64_t>(episode.turns.size());
  if (found_turns != turns) {
    return damaged(
        *database_, id,
        ": found " + std::to_string(found_turns) + " turns, stored were " + std::to_string(turns));
  }
  return std::optional(std::move(episode));
}

/// Rationale: some stored bytes expand to 64 MiB, so a small file could fill the memory.
Status JournalReader::read_turns(StoredEpisode& episode) const {
  constexpr std::size_t kBytesMax = std::size_t{512} << 20;  // of an episode's turns
  std::size_t bytes = 0;
  const std::uint64_t id = episode.record.id;
  Statement& turns = statements_->turns;
  HONE_ASSIGN(bool row, turns.start({static_cast<std::int64_t>(id)}));
  while (row) {
    episode.turns.push_back(turn_of(turns, id));
    const std::int64_t turn = episode.turns.back().turn;
    const auto expected = static_cast<std::int64_t>(episode.turns.size());
    if (turns.integer(13) == 0 || turn != expected) {
      const std::string what = turn != expected ? std::to_string(expected) + " is missing"
                                                : std::to_string(turn) + kSpoilt;
      turns.stop();
      return damaged(*database_, id, ", turn " + what);
    }
    const TurnRecord& last = episode.turns.back();
    for (const std::shared_ptr<const std::string>& part : {last.action, last.reply, last.words})
      bytes += part == nullptr ? 0 : part->size();
    if (bytes > kBytesMax) {
      turns.stop();
      return damaged(*database_, id, ": its turns have more than 512 MiB");
    }
    HONE_ASSIGN(row, turns.next());
  }
  return {};
}

Status JournalReader::read_calls(StoredEpisode& episode) const {
  const std::uint64_t id = episode.record.id;
  Statement& calls = statements_->calls;
  HONE_ASSIGN(bool row, calls.start({static_cast<std::int64_t>(id)}));
  while (row) {
    const CallRecord* last = episode.calls.empty() ? nullptr : &episode.calls.back();
    CallRecord call = call_of(calls, id);
    const std::int64_t expected = last != nullptr && last->turn == call.turn ? last->call + 1 : 1;
    if (calls.integer(8) == 0 || call.call != expected) {
      const std::string what = call.call != expected ? " is missing" : kSpoilt;
      calls.stop();
      return damaged(*database_, id,
                     ", call " + std::to_string(call.call != expected ? expected : call.call) +
                         " of turn " + std::to_string(call.turn) + what);
    }
    episode.calls.push_back(std::move(call));
    HONE_ASSIGN(row, calls.next());
  }
  return {};
}

Result<std::optional<StoredEpisode>> JournalReader::episode(std::uint64_t id) const {
  MutexLock lock(mutex_);
  return in_journal(path_, read(id, false));
}

Result<std::optional<StoredEpisode>> JournalReader::held_episode(std::uint64_t id) const {
  MutexLock lock(mutex_);
  return in_journal(path_, read(id, true));
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

/// SQL conditions, and the values of their parameters.
struct Conditions {
  std::string sql;
  std::vector<SqlValue> cells;

  /// Adds a value, and returns its parameter: "?1".
  std::string parameter(SqlValue cell) {
    cells.push_back(cell);
    return "?" + std::to_string(cells.size());
  }
  /// Adds the condition that a column has this text, unless it is empty.
  void also(const char* column, std::string_view wanted) {
    if (!wanted.empty()) sql += std::string(" AND ") + column + " = " + parameter(wanted);
  }
};

/// The condition of a filter. An episode with a damaged state matches every state.
Conditions where(const EpisodeFilter& filter) {
  Conditions all{" WHERE (state != 4 OR NOT " + live_is_summed() + ")", {}};
  std::string& sql = all.sql;
  const auto parameter = [&all](SqlValue cell) { return all.parameter(cell); };
  if (filter.state) {
    sql += " AND (state = " + parameter(static_cast<std::int64_t>(*filter.state)) + " OR NOT " +
           live_is_summed() + ")";
  }
  all.also("task", filter.task);
  all.also("client", filter.client);
  all.also("reward", filter.reward);
  all.also("group_name", filter.group);
  if (!filter.search.empty()) {
    const std::string text = parameter(std::string_view(filter.search));
    std::string any = "instr(printf('%016x', id), lower(" + text + ")) = 1";
    for (const char* column : {"task", "client", "group_name"})
      any += std::string(" OR instr(lower(") + column + "), lower(" + text + ")) > 0";
    sql += " AND (" + any + ")";
  }
  if (!filter.outcome.empty()) {
    sql += " AND EXISTS (SELECT 1 FROM turns WHERE episode = episodes.id AND outcome = " +
           parameter(std::string_view(filter.outcome)) + ")";
  }
  if (filter.after) {
    const std::string opened_at = parameter(filter.after->opened_at);
    sql += " AND (opened_at < " + opened_at + " OR (opened_at = " + opened_at + " AND id > " +
           parameter(static_cast<std::int64_t>(filter.after->id)) + "))";
  }
  return all;
}

/// The conditions on client and reward, each preceded by AND.
Conditions of_client_and_reward(const EpisodeFilter& filter) {
  Conditions both;
  both.also("client", filter.client);
  both.also("episodes.reward", filter.reward);
  return both;
}

// Rationale: SQLite would compute all columns of each row before it sorts. With the rows chosen first, it computes them only
// for these.
constexpr const char* kNewestFirst = " ORDER BY opened_at DESC, id";

}  // namespace

Result<std::vector<EpisodeLine>> JournalReader::list(const EpisodeFilter& filter) const {
  return in_journal(path_, lines(filter));
}

Result<std::vector<EpisodeLine>> JournalReader::lines(const EpisodeFilter& filter) const {
  auto [condition, cells] = where(filter);
  const std::string limit =
      filter.limit > 0 ? " LIMIT " + std::to_string(filter.limit) : std::string();
  MutexLock lock(mutex_);
  HONE_ASSIGN(
      Statement all,
      database_->prepare(
          "SELECT id, task, client, group_name, reward, iif(" + episode_is_summed() +
          ", state, 5), opened_at, changed_at, "
          "(SELECT count(*) FROM turns WHERE episode = episodes.id), "
          "(SELECT max(speedup) FROM turns WHERE episode = episodes.id), "
          "(SELECT reward FROM turns WHERE episode = episodes.id ORDER BY turn DESC LIMIT 1) "
          "FROM episodes WHERE id IN (SELECT id FROM episodes" +
          condition + kNewestFirst + limit + ")" + kNewestFirst));
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

namespace {

constexpr const char* kTurnLineColumns =
    "SELECT task, outcome, scored, speedup, turns.reward, turns.episode, turn, turns.at, ";
/// A turn of an episode that is not being deleted, and not one that a branch shares with its parent.
constexpr const char* kCountedTurn = "(state != 4 AND (parent = 0 OR turn > parent_turn))";

/// The column after kTurnLineColumns. Rationale: subqueries, because a join would read the texts of all turns.
const char* last_reply_column(bool last_replies) {
  return last_replies ? "iif(turns.ended, hone_unpack(turns.reply, "
                        "(SELECT bytes FROM blobs WHERE id = turns.action), "
                        "(SELECT bytes FROM blobs WHERE id = turns.words)), NULL)"
                      : "NULL";
}

/// Of a row that begins with kTurnLineColumns and last_reply_column().
TurnLine line_of(const Statement& s) {
  TurnLine line{s.bytes(0), s.bytes(1), s.integer(2) != 0, s.number(3), s.number(4)};
  line.episode = unsigned_of(s.integer(5));
  line.turn = s.integer(6);
  line.at = s.number(7);
  line.reply = s.bytes(8);
  return line;
}

}  // namespace

Status JournalReader::each_turn(const std::function<bool(const TurnLine&)>& visit,
                                const EpisodeFilter& filter, bool last_replies) const {
  const auto [condition, cells] = of_client_and_reward(filter);
  MutexLock lock(mutex_);
  // Rationale: CROSS JOIN makes SQLite scan `turns` in the order of the file, not once for each episode.
  HONE_ASSIGN(
      Statement all,
      database_->prepare(std::string(kTurnLineColumns) + last_reply_column(last_replies) +
                         " FROM turns CROSS JOIN episodes ON episodes.id = turns.episode WHERE " +
                         kCountedTurn + condition));
  HONE_ASSIGN(bool row, all.start(cells));
  while (row) {
    if (!visit(line_of(all))) {
      all.stop();
      return {};
    }
    HONE_ASSIGN(row, all.next());
  }
  return {};
}

/// Rationale: SQLite gives a new row a number above all others, so a later turn has a larger number. Two things break this: VACUUM
/// renumbers the rows, and the number of a deleted last row is used again. After either, the row `last.row` is missing or is
/// another turn, so this checks that row first.
Result<bool> JournalReader::each_turn_after(TurnPlace& last,
                                            const std::function<void(const TurnLine&)>& visit,
                                            bool last_replies) const {
  MutexLock lock(mutex_);
  HONE_ASSIGN(
      Statement all,
      database_->prepare(std::string(kTurnLineColumns) + last_reply_column(last_replies) +
                         ", turns.rowid, " + kCountedTurn +
                         " FROM turns CROSS JOIN episodes ON episodes.id = turns.episode WHERE "
                         "turns.rowid >= ?1 ORDER BY turns.rowid"));
  HONE_ASSIGN(bool row, all.start({last.row}));
  if (last.row != 0) {
    const bool known = row && all.integer(9) == last.row &&
                       unsigned_of(all.integer(5)) == last.episode && all.integer(6) == last.turn;
    if (!known) {
      all.stop();
      return false;
    }
    HONE_ASSIGN(row, all.next());
  }
  while (row) {
    const TurnLine line = line_of(all);
    if (all.integer(10) != 0) visit(line);
    last = {all.integer(9), line.episode, line.turn, last.read + 1};
    HONE_ASSIGN(row, all.next());
  }
  return true;
}

Result<std::string> JournalReader::reply(std::uint64_t episode, std::int64_t turn) const {
  MutexLock lock(mutex_);
  Statement& one = statements_->reply;
  HONE_ASSIGN(const bool found, one.start({static_cast<std::int64_t>(episode), turn}));
  if (!found) return std::string();
  std::string reply = one.bytes(0);
  one.stop();
  return reply;
}

void JournalReader::stop_when(std::function<bool()> stop) const {
  MutexLock lock(mutex_);
  database_->stop_when(std::move(stop));
}

Result<std::int64_t> JournalReader::count_episodes() const {
  MutexLock lock(mutex_);
  HONE_ASSIGN(Statement all, database_->prepare("SELECT count(*) FROM episodes WHERE state != 4"));
  HONE_TRY(all.start({}));
  return all.integer(0);
}

Result<std::int64_t> JournalReader::count_turns() const {
  MutexLock lock(mutex_);
  HONE_ASSIGN(Statement all, database_->prepare("SELECT count(*) FROM turns"));
  HONE_TRY(all.start({}));
  return all.integer(0);
}

Result<std::vector<TaskLine>> JournalReader::tasks(const EpisodeFilter& filter) const {
  const auto [condition, cells] = of_client_and_reward(filter);
  MutexLock lock(mutex_);
  HONE_ASSIGN(
      Statement all,
      database_->prepare("SELECT task, count(*) FROM episodes WHERE state != 4" + condition +
                         " GROUP BY task ORDER BY count(*) DESC, task LIMIT 1000"));
  std::vector<TaskLine> found;
  HONE_ASSIGN(bool row, all.start(cells));
  while (row) {
    found.push_back({all.bytes(0), all.integer(1)});
    HONE_ASSIGN(row, all.next());
  }
  return found;
}

Result<std::vector<std::string>> JournalReader::names(Name which) const {
  const std::string column = which == Name::kTask     ? "task"
                             : which == Name::kClient ? "client"
                             : which == Name::kReward ? "reward"
                                                      : "group_name";
  MutexLock lock(mutex_);
  HONE_ASSIGN(Statement all,
              database_->prepare("SELECT " + column + " FROM episodes GROUP BY " + column +
                                 " ORDER BY count(*) DESC, " + column + " LIMIT 1000"));
  std::vector<std::string> found;
  HONE_ASSIGN(bool row, all.start({}));
  while (row) {
    if (std::string name = all.bytes(0); !name.empty()) found.push_back(std::move(name));
    HONE_ASSIGN(row, all.next());
  }
  return found;
}

Result<std::vector<std::uint64_t>> JournalReader::ids(const EpisodeFilter& filter) const {
  auto [condition, cells] = where(filter);
  MutexLock lock(mutex_);
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
  const auto all = ids(filter);
  if (!all) return in_journal(path_, all.error());
  for (const std::uint64_t id : *all) {
    const auto one = episode(id);
    if (!one) {
      if (!damaged || one.error().code != Code::kFailedPrecondition) return one.error();
      damaged(one.error());
    } else if (*one) {  // else it was deleted meanwhile
      if (const Status visited = visit(**one); !visited) return in_journal(path_, visited.error());
    }
  }
  return {};
}

Status JournalReader::copy_to(const std::filesystem::path& path) const {
  MutexLock lock(mutex_);
  return database_->copy_to(path);
}

}  // namespace hone
