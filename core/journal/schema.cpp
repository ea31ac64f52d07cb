// The schema as a list of migrations, one for each version.
#include "journal/schema.hpp"

#include <string>

namespace hone {
namespace {

constexpr std::int64_t kApplication = 0x686f6e65;  // "hone"

// Rationale: the column `held`, not a time, decides which episodes a server continues, so that a change of
// the clock ends no episode.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  uses INTEGER NOT NULL,
  bytes BLOB NOT NULL);
CREATE TABLE episodes (
  id INTEGER PRIMARY KEY,
  token BLOB NOT NULL,
  seed INTEGER NOT NULL,
  environment TEXT NOT NULL,
  task TEXT NOT NULL,
  task_hash BLOB NOT NULL,
  backend TEXT NOT NULL,
  group_name TEXT NOT NULL,
  client TEXT NOT NULL,
  options BLOB NOT NULL,
  reward TEXT NOT NULL,
  reward_config BLOB NOT NULL,
  reward_version TEXT NOT NULL,
  reward_hash TEXT NOT NULL,
  opened_at REAL NOT NULL,
  reset_key BLOB,
  reset_body BLOB NOT NULL,
  parent INTEGER NOT NULL,
  parent_turn INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 1,
  fingerprint INTEGER NOT NULL DEFAULT 0,
  changed_at REAL NOT NULL,
  intent_turn INTEGER,
  intent_action BLOB,
  intent_seed INTEGER);
CREATE INDEX episodes_held ON episodes (id, client, state) WHERE held = 1;
CREATE UNIQUE INDEX episodes_reset ON episodes (reset_key) WHERE held = 1 AND reset_key IS NOT NULL;
CREATE INDEX episodes_age ON episodes (changed_at) WHERE held = 0;
CREATE TABLE turns (
  episode INTEGER NOT NULL REFERENCES episodes (id),
  turn INTEGER NOT NULL,
  hash BLOB NOT NULL,
  action INTEGER NOT NULL REFERENCES blobs (id),
  seed INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  scored INTEGER NOT NULL,
  speedup REAL,
  reward REAL,
  fingerprint INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  at REAL NOT NULL,
  reply BLOB NOT NULL);
CREATE UNIQUE INDEX turns_order ON turns (episode, turn);
)sql",
    // Rationale: before SQLite deletes a blob, it checks whether a turn refers
    // to it. Without an index it would read all turns for each blob.
    R"sql(
CREATE INDEX turns_action ON turns (action);
)sql",
    R"sql(
ALTER TABLE episodes ADD COLUMN sum BLOB;
ALTER TABLE episodes ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN sum BLOB;
UPDATE episodes SET
  turns = (SELECT count(*) FROM turns WHERE episode = episodes.id),
  sum = hone_sum(id, token, seed, environment, task, task_hash, backend, group_name, client, options,
    reward, reward_config, reward_version, reward_hash, opened_at, reset_key, reset_body, parent,
    parent_turn);
UPDATE turns SET sum = hone_sum(episode, turn, hash, seed, outcome, scored, speedup, reward,
  fingerprint, ended, at, reply);
)sql",
    // Rationale: rows that were damaged before the migration get no checksum,
    // so they stay damaged.
    R"sql(
ALTER TABLE turns ADD COLUMN words INTEGER REFERENCES blobs (id);
CREATE INDEX turns_words ON turns (words) WHERE words IS NOT NULL;
UPDATE turns SET
  sum = iif(sum IS hone_sum(episode, turn, hash, seed, outcome, scored, speedup, reward, fingerprint,
      ended, at, reply),
    hone_sum(episode, turn, hash, seed, outcome, scored, speedup, reward, fingerprint, ended, at,
      hone_sha256(reply), NULL), NULL),
  reply = hone_pack(reply, (SELECT bytes FROM blobs WHERE id = action), NULL);
)sql",
    R"sql(
ALTER TABLE episodes ADD COLUMN live BLOB;
UPDATE episodes SET live = hone_sum(id, state, held, fingerprint, changed_at, intent_turn,
  intent_action, intent_seed, turns);
)sql",
    // Rationale: names mean the same in every version, so an unknown outcome is
    // kept as it is. The numbers are those of versions 1 to 5. An unscored turn
    // has none. A damaged turn stays damaged, without a checksum.
    R"sql(
ALTER TABLE turns RENAME COLUMN outcome TO number;
ALTER TABLE turns ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
UPDATE turns SET outcome = CASE number
    WHEN 0 THEN 'no_code' WHEN 1 THEN 'rejected' WHEN 2 THEN 'build_failed' WHEN 3 THEN 'crashed'
    WHEN 4 THEN 'timed_out' WHEN 5 THEN 'out_of_memory' WHEN 6 THEN 'wrong' WHEN 7 THEN 'cheated'
    WHEN 8 THEN 'correct' ELSE 'outcome_' || number END
  WHERE scored;
UPDATE turns SET sum = (SELECT
  iif(turns.sum IS hone_sum(episode, turn, turns.hash, seed, number, scored, speedup, reward,
      fingerprint, ended, at, whole, said),
    hone_sum(episode, turn, turns.hash, seed, outcome, scored, speedup, reward, fingerprint, ended,
      at, whole, said), NULL)
  FROM (SELECT hone_sha256(hone_unpack(turns.reply, sent.bytes, words.bytes)) AS whole,
      words.hash AS said
    FROM blobs AS sent LEFT JOIN blobs AS words ON words.id = turns.words
    WHERE sent.id = turns.action));
ALTER TABLE turns DROP COLUMN number;
)sql",
    R"sql(
CREATE TABLE calls (
  episode INTEGER NOT NULL REFERENCES episodes (id),
  turn INTEGER NOT NULL,
  call INTEGER NOT NULL,
  hash BLOB NOT NULL,
  tool TEXT NOT NULL,
  at REAL NOT NULL,
  action BLOB NOT NULL,
  reply BLOB NOT NULL,
  sum BLOB NOT NULL);
CREATE UNIQUE INDEX calls_order ON calls (episode, turn, call);
)sql",
    // Rationale: a call that was damaged before the migration gets no checksum, so it stays damaged.
    R"sql(
INSERT INTO blobs (hash, uses, bytes)
  SELECT hone_sha256(action), 0, action FROM calls WHERE true ON CONFLICT (hash) DO NOTHING;
CREATE TABLE packed_calls (
  episode INTEGER NOT NULL REFERENCES episodes (id),
  turn INTEGER NOT NULL,
  call INTEGER NOT NULL,
  hash BLOB NOT NULL,
  tool TEXT NOT NULL,
  at REAL NOT NULL,
  action INTEGER NOT NULL REFERENCES blobs (id),
  reply BLOB NOT NULL,
  words INTEGER REFERENCES blobs (id),
  sum BLOB);
INSERT INTO packed_calls SELECT episode, turn, call, calls.hash, tool, at, blobs.id,
    hone_pack(reply, blobs.bytes, NULL), NULL,
    iif(calls.hash IS blobs.hash AND
      sum IS hone_sum(episode, turn, call, calls.hash, tool, at, blobs.hash, hone_sha256(reply)),
    hone_sum(episode, turn, call, calls.hash, tool, at, hone_sha256(reply), NULL), NULL)
  FROM calls JOIN blobs ON blobs.hash = hone_sha256(calls.action);
UPDATE blobs SET uses = uses + (SELECT count(*) FROM packed_calls WHERE action = blobs.id)
  WHERE id IN (SELECT action FROM packed_calls);
DROP TABLE calls;
ALTER TABLE packed_calls RENAME TO calls;
CREATE INDEX calls_words ON calls (words) WHERE words IS NOT NULL;
CREATE INDEX calls_action ON calls (action);
CREATE UNIQUE INDEX calls_order ON calls (episode, turn, call);
)sql"};
static_assert(sizeof kSteps / sizeof *kSteps == kSchemaVersion);

Status check_application(Database& database, std::int64_t version) {
  HONE_ASSIGN(const std::int64_t application, database.number("PRAGMA application_id"));
  if (application != kApplication) {
    HONE_ASSIGN(const std::int64_t pages, database.number("PRAGMA page_count"));
    if (pages == 0) return failed_precondition("found an empty file, expected a journal");
    return failed_precondition("found a database of another program, expected a journal");
  }
  if (version > kSchemaVersion) {
    return failed_precondition("found version " + std::to_string(version) +
                               " of the journal, this hone knows up to " +
                               std::to_string(kSchemaVersion) + "; use a newer hone");
  }
  return {};
}

/// `column` contains the checksum of the row.
std::string is_summed(std::string_view column, std::string_view summed) {
  return std::string(column) + " IS hone_sum(" + std::string(summed) + ")";
}

}  // namespace

std::string live_is_summed() {
  std::string columns;
  for (const std::string_view column : kEpisodeLive) {
    columns += (columns.empty() ? "" : ", ") + std::string(column);
  }
  return is_summed("live", columns);
}

std::string episode_is_summed() {
  return "(" + is_summed("sum", kEpisodeSummed) + " AND " + live_is_summed() + ")";
}

std::string turn_is_summed() {
  return "(" + is_summed("turns.sum", kTurnSummed) +
         " AND turns.hash IS hone_sha256(sent.bytes)"
         " AND iif(turns.words IS NULL, 1, said.hash IS hone_sha256(said.bytes)))";
}

std::string call_is_summed() {
  return "(" + is_summed("calls.sum", kCallSummed) +
         " AND calls.hash IS hone_sha256(sent.bytes)"
         " AND iif(calls.words IS NULL, 1, said.hash IS hone_sha256(said.bytes)))";
}

Status prepare_schema(Database& database) {
  HONE_ASSIGN(std::int64_t version, database.number("PRAGMA user_version"));
  HONE_ASSIGN(const std::int64_t tables, database.number("SELECT count(*) FROM sqlite_schema"));
  if (version != 0 || tables != 0) {
    HONE_TRY(check_application(database, version));
  } else {
    HONE_TRY(database.execute("PRAGMA auto_vacuum = INCREMENTAL"));
  }
  if (version == kSchemaVersion) return {};
  std::string steps = "BEGIN IMMEDIATE;";
  for (; version < kSchemaVersion; ++version) steps += kSteps[version];
  steps += "PRAGMA application_id = " + std::to_string(kApplication) + ";";
  steps += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + "; COMMIT;";
  if (Status made = database.execute(steps); !made) {
    static_cast<void>(database.execute("ROLLBACK"));
    return made;
  }
  return {};
}

Status check_schema(Database& database) {
  HONE_ASSIGN(const std::int64_t version, database.number("PRAGMA user_version"));
  HONE_TRY(check_application(database, version));
  if (version == kSchemaVersion) return {};
  return failed_precondition("found version " + std::to_string(version) +
                             " of the journal, expected " + std::to_string(kSchemaVersion) +
                             "; a server that opens it brings it up to date");
}

}  // namespace hone
