// Records in which every field is set.
#include "journal/journal_fixture.hpp"

#include <chrono>

#include "base/crypto.hpp"
#include "journal/database.hpp"
#include "journal/schema.hpp"
#include "journal/writer.hpp"

namespace hone::test {
namespace {

/// What a compiler said of them all.
const std::string kWords = [] {
  std::string words = "a.cpp:1:1: error: expected";
  for (int n = 0; n < 60; ++n) words += " " + std::to_string(n * n * n);
  return words;
}();

/// From version i + 2 back to i + 1.
constexpr const char* kBack[] = {
    "DROP INDEX turns_action",
    "ALTER TABLE episodes DROP COLUMN sum; ALTER TABLE episodes DROP COLUMN turns;"
    "ALTER TABLE turns DROP COLUMN sum",
    "UPDATE turns SET reply = hone_unpack(reply, (SELECT bytes FROM blobs WHERE id = action), "
    "(SELECT bytes FROM blobs WHERE id = words));"
    "UPDATE turns SET sum = hone_sum(episode, turn, hash, seed, outcome, scored, speedup, reward, "
    "fingerprint, ended, at, reply);"
    "DROP INDEX turns_words; ALTER TABLE turns DROP COLUMN words; DELETE FROM blobs WHERE id NOT "
    "IN "
    "(SELECT action FROM turns)",
    "ALTER TABLE episodes DROP COLUMN live",
    "ALTER TABLE turns RENAME COLUMN outcome TO name;"
    "ALTER TABLE turns ADD COLUMN outcome INTEGER NOT NULL DEFAULT 0;"
    "UPDATE turns SET outcome = CASE name WHEN 'rejected' THEN 1 WHEN 'build_failed' THEN 2 "
    "WHEN 'crashed' THEN 3 WHEN 'timed_out' THEN 4 WHEN 'out_of_memory' THEN 5 WHEN 'wrong' THEN 6 "
    "WHEN 'cheated' THEN 7 WHEN 'correct' THEN 8 WHEN 'outcome_9' THEN 9 ELSE 0 END;"
    "UPDATE turns SET sum = hone_sum(episode, turn, hash, seed, outcome, scored, speedup, reward, "
    "fingerprint, ended, at, "
    "hone_sha256(hone_unpack(reply, (SELECT bytes FROM blobs WHERE id = action), "
    "(SELECT bytes FROM blobs WHERE id = words))), "
    "(SELECT hash FROM blobs WHERE id = words));"
    "ALTER TABLE turns DROP COLUMN name",
    "DROP TABLE calls",
    "CREATE TABLE whole_calls (episode INTEGER NOT NULL REFERENCES episodes (id), turn INTEGER NOT "
    "NULL, call INTEGER NOT NULL, hash BLOB NOT NULL, tool TEXT NOT NULL, at REAL NOT NULL, action "
    "BLOB NOT NULL, reply BLOB NOT NULL, sum BLOB NOT NULL);"
    "INSERT INTO whole_calls SELECT episode, turn, call, hash, tool, at, sent, whole, "
    "hone_sum(episode, turn, call, hash, tool, at, hone_sha256(sent), hone_sha256(whole)) FROM "
    "(SELECT calls.*, sent.bytes AS sent, hone_unpack(reply, sent.bytes, said.bytes) AS whole "
    "FROM calls JOIN blobs AS sent ON sent.id = action LEFT JOIN blobs AS said ON said.id = words);"
    "DROP TABLE calls; ALTER TABLE whole_calls RENAME TO calls;"
    "CREATE UNIQUE INDEX calls_order ON calls (episode, turn, call);"
    "UPDATE blobs SET uses = (SELECT count(*) FROM turns WHERE action = blobs.id OR words = "
    "blobs.id); DELETE FROM blobs WHERE uses = 0"};
static_assert(std::size(kBack) + 1 == kSchemaVersion);

}  // namespace

EpisodeRecord episode_record(std::uint64_t id, const std::string& client) {
  EpisodeRecord e;
  e.id = id;
  random_bytes(e.token);
  e.seed = id ^ 0x8000000000000001u;
  e.environment = "kernel_refine";
  e.task = "tasks/add_relu";
  e.backend = "cpu";
  e.group = "group-" + std::to_string(id % 4);
  e.client = client;
  e.task_hash = sha256("the task");
  e.options = std::string("\x80\x00", 2);
  e.reward = "tritonforge";
  e.reward_config = "\x80";
  e.reward_version = "1.0.0";
  e.reward_hash = "00ff";
  e.opened_at = 1000 + static_cast<double>(id);
  e.reset_body = sha256("body");
  return e;
}

TurnRecord turn_record(std::uint64_t episode, std::int64_t turn, bool ended,
                       const std::string& action) {
  TurnRecord t;
  t.episode = episode;
  t.turn = turn;
  const std::string code =
      action.empty() ? "code " + std::to_string(episode) + "/" + std::to_string(turn) : action;
  t.hash = sha256(code);
  t.action = std::make_shared<const std::string>(code);
  t.seed = episode * 1000 + static_cast<std::uint64_t>(turn);
  t.outcome = "crashed";
  t.scored = true;
  t.speedup = 1.5;
  t.fingerprint = 77;
  t.words = std::make_shared<const std::string>(kWords);
  t.reply = std::make_shared<const std::string>("reply to " + code.substr(0, 100) + kWords);
  t.ended = ended;
  t.at = 2000 + static_cast<double>(turn);
  return t;
}

CallRecord call_record(std::uint64_t episode, std::int64_t turn, std::int64_t call) {
  CallRecord c;
  c.episode = episode;
  c.turn = turn;
  c.call = call;
  const std::string action = "call " + std::to_string(episode) + "/" + std::to_string(call);
  c.hash = sha256(action);
  c.tool = "profile";
  c.action = std::make_shared<const std::string>(action);
  c.reply = std::make_shared<const std::string>("answer to " + action);
  c.at = 3000 + static_cast<double>(call);
  return c;
}

JournalTest::JournalTest() {
  std::string name = (std::filesystem::temp_directory_path() / "hone-journal-XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
  path_ = folder_ / "journal.db";
}

JournalTest::~JournalTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<Journal>> JournalTest::open(JournalOptions options) {
  options.path = path_;
  return Journal::open(std::move(options));
}

std::unique_ptr<Journal> JournalTest::opened(JournalOptions options) {
  auto journal = open(std::move(options));
  EXPECT_TRUE(journal) << journal.error().message;
  return journal ? std::move(journal).value() : nullptr;
}

Status JournalTest::release(Journal& journal, std::uint64_t episode, RecordState state) {
  std::promise<Status> promise;
  journal.release(episode, state, [&](const Status& done) { promise.set_value(done); });
  return promise.get_future().get();
}

Status JournalTest::sync(Journal& journal) {
  std::promise<Status> promise;
  journal.sync([&](const Status& done) { promise.set_value(done); });
  return promise.get_future().get();
}

void JournalTest::retire_one() const {
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->begin());
  ASSERT_EQ((*writer)->retire(1e300, 0, std::chrono::minutes(1))->episodes, 1);
  ASSERT_TRUE((*writer)->commit());
}

void JournalTest::make_older(std::int64_t version) {
  auto database = Database::open(path_, Database::Mode::kWrite);
  ASSERT_TRUE(database);
  for (std::int64_t now = kSchemaVersion; now > version; --now) {
    const Status back = (*database)->execute(kBack[now - 2]);
    ASSERT_TRUE(back) << back.error().message;
  }
  ASSERT_TRUE((*database)->execute("PRAGMA user_version = " + std::to_string(version)));
}

}  // namespace hone::test
