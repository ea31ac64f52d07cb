// Finds damage in a journal: in pages, in the order of turns, and by checksums.
#include "journal/database.hpp"
#include "journal/reader.hpp"
#include "journal/schema.hpp"

namespace hone {

Result<std::vector<std::string>> JournalReader::check() const {
  return in_journal(path_, damage());
}

Result<std::vector<std::string>> JournalReader::damage() const {
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
       "LEFT JOIN (SELECT used, count(*) AS counted FROM (SELECT action AS used FROM turns "
       "UNION ALL SELECT words FROM turns WHERE words IS NOT NULL "
       "UNION ALL SELECT action FROM calls "
       "UNION ALL SELECT words FROM calls WHERE words IS NOT NULL) GROUP BY used) "
       "ON used = id WHERE uses != ifnull(counted, 0)"},
      {"",
       "SELECT printf('episode %016x does not match its checksum', id) FROM episodes WHERE NOT (" +
           episode_is_summed() + ")"},
      {"", "SELECT printf('episode %016x, turn %d does not match its checksum', episode, turn)" +
               std::string(kTurnTables) + "WHERE NOT (" + turn_is_summed() + ")"},
      {"calls are missing: ",
       "SELECT printf('episode %016x, turn %d has %d, the last is %d', episode, turn, count(*), "
       "max(call)) FROM calls GROUP BY episode, turn HAVING count(*) != max(call) OR min(call) != "
       "1"},
      {"",
       "SELECT printf('episode %016x, turn %d, call %d does not match its checksum', episode, "
       "turn, "
       "call)" +
           std::string(kCallTables) + "WHERE NOT (" + call_is_summed() + ")"},
      {"",
       "SELECT printf('blob %d does not match its checksum', id) FROM blobs "
       "WHERE hash IS NOT hone_sha256(bytes)"}};
  for (const auto& [what, sql] : queries) {
    HONE_ASSIGN(Statement query, database_->prepare(sql));
    HONE_ASSIGN(bool row, query.start({}));
    while (row) {
      wrong.push_back(what + query.bytes(0));
      HONE_ASSIGN(row, query.next());
    }
  }
  if (wrong.empty()) return wrong;
  if (Error error = database_->damage(wrong.front()); error.code == Code::kUnavailable)
    return error;
  return wrong;
}

}  // namespace hone
