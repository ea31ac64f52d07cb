// Records with something in every field.
#include "journal/journal_fixture.hpp"

#include "base/crypto.hpp"

namespace hone::test {

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
  t.outcome = 3;
  t.scored = true;
  t.speedup = 1.5;
  t.fingerprint = 77;
  t.reply = std::make_shared<const std::string>("reply to " + code.substr(0, 100));
  t.ended = ended;
  t.at = 2000 + static_cast<double>(turn);
  return t;
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

}  // namespace hone::test
