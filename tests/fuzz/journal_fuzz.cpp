// A small journal with bytes changed, truncated or moved, in the file or its log: it is refused with a reason, or
// read without a changed step.
#include <fstream>
#include <future>
#include <iterator>
#include <map>

#include "fuzz/fuzz.hpp"
#include "journal/journal.hpp"

namespace hone::fuzz {
namespace {

constexpr std::size_t kPage = 4096, kBytesMax = 1u << 20;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

EpisodeRecord episode_record(std::uint64_t id) {
  EpisodeRecord e;
  e.id = id;
  e.token.fill(static_cast<std::uint8_t>(id));
  e.seed = 77 + id;
  e.environment = "kernel_refine";
  e.task = "tasks/add_relu";
  e.task_hash = sha256("the task");
  e.backend = "cpu";
  e.client = "trainer";
  e.options = e.reward_config = to_msgpack(Value::map());
  e.reward = "tritonforge";
  e.reward_version = "1.0.0";
  e.reward_hash = "00ff";
  e.opened_at = 1000;
  e.reset_key = sha256("key " + std::to_string(id));
  e.reset_body = sha256("body");
  return e;
}

TurnRecord turn_record(std::uint64_t episode, std::int64_t turn) {
  TurnRecord t;
  t.episode = episode;
  t.turn = turn;
  t.action = std::make_shared<const std::string>(
      to_msgpack(Value::map({{"code", "void f" + std::to_string(episode * 10) + "() {}"}})));
  t.hash = sha256(*t.action);
  t.seed = episode * 1000 + static_cast<std::uint64_t>(turn);
  t.outcome = "correct";
  t.scored = true;
  t.speedup = 1.5;
  t.reward = 0.75;
  t.fingerprint = 77;
  std::string said = "f.cpp:1:1: error: what a compiler says of";
  for (int n = 0; n < 60; ++n) said += " " + std::to_string(n * n * n);
  t.words = std::make_shared<const std::string>(said);
  t.reply = std::make_shared<const std::string>(
      *t.action + to_msgpack(Value::map({{"reward", 0.75}, {"feedback", said}})) + said);
  t.ended = turn == 2;
  t.at = 2000;
  return t;
}

/// The journal that is changed: as a server leaves it, and as one that was killed does.
struct Base {
  std::string folded, open, log;
  std::map<std::pair<std::uint64_t, std::int64_t>, TurnRecord> turns;

  Base() {
    const std::filesystem::path path = scratch() / "base.db";
    {
      JournalOptions options;
      options.path = path;
      auto journal = Journal::open(options);
      check(journal.ok(), "a journal can be made");
      for (std::uint64_t id = 1; id <= 3; ++id) {
        (*journal)->add(episode_record(id), nullptr);
        for (std::int64_t turn = 1; turn <= 2; ++turn) {
          turns[{id, turn}] = turn_record(id, turn);
          (*journal)->add(turn_record(id, turn), nullptr);
        }
      }
      std::promise<Status> done;
      (*journal)->sync([&](const Status& status) { done.set_value(status); });
      check(done.get_future().get().ok(), "a journal can be written");
      open = bytes_of(path);
      log = bytes_of(path.string() + "-wal");
    }
    folded = bytes_of(path);
    check(folded.size() > kPage && log.size() > kPage, "a journal has pages and a log");
  }
};

/// One change: what, where and a number.
void edit(std::string& bytes, unsigned what, std::size_t where, std::uint8_t number) {
  if (bytes.empty()) return;
  where %= bytes.size();
  const std::size_t room = bytes.size() - where;
  switch (what % 7) {
    case 0:
      bytes[where] = static_cast<char>(static_cast<unsigned char>(bytes[where]) ^ 1u << number % 8);
      break;
    case 1:
      bytes[where] = static_cast<char>(number);
      break;
    case 2:
      bytes.replace(where, std::min<std::size_t>(4, room), std::min<std::size_t>(4, room),
                    static_cast<char>(number));
      break;
    case 3:
      bytes.resize(where);
      break;
    case 4:  // a page where another belongs
      if (where / kPage < bytes.size() / kPage) {
        bytes.replace(where / kPage * kPage, kPage,
                      bytes.substr(number % (bytes.size() / kPage) * kPage, kPage));
      }
      break;
    case 5:
      bytes.replace(where, std::min<std::size_t>(room, number * 16u),
                    std::string(std::min<std::size_t>(room, number * 16u), '\0'));
      break;
    default:
      bytes.append(number * 16u, '\xff');
  }
}

void check_turn(const TurnRecord& turn, const Base& base) {
  const auto stored = base.turns.find({turn.episode, turn.turn});
  check(stored != base.turns.end(), "a step that is read is one that was stored");
  const TurnRecord& was = stored->second;
  check(turn.hash == was.hash && *turn.action == *was.action && turn.seed == was.seed &&
            *turn.reply == *was.reply,
        "a step is read as it was stored");
  check(turn.outcome == was.outcome && turn.scored == was.scored && turn.speedup == was.speedup &&
            turn.reward == was.reward && turn.fingerprint == was.fingerprint &&
            turn.ended == was.ended && turn.at == was.at,
        "a step's facts are read as they were stored");
}

/// Reads all there is.
void check_reader(const JournalReader& reader, const Base& base, bool with_log) {
  const auto refuse = [](const auto& result) {
    if (!result) check_error(result.error());
  };
  refuse(reader.held());
  refuse(reader.list({}));
  refuse(reader.held_reset(sha256("key 1")));
  refuse(reader.each({}, [&](const StoredEpisode& episode) -> Status {
    for (const TurnRecord& turn : episode.turns) check_turn(turn, base);
    for (std::size_t i = 0; i < episode.turns.size(); ++i) {
      check(episode.turns[i].turn == static_cast<std::int64_t>(i) + 1, "steps come in order");
    }
    check(with_log || episode.turns.size() == 2, "no step of a whole file is missing");
    return {};
  }));
  for (std::uint64_t id = 0; id <= 4; ++id) {
    const auto episode = reader.held_episode(id);
    refuse(episode);
    if (!episode || !*episode) continue;
    const EpisodeRecord& r = (*episode)->record;
    const EpisodeRecord was = episode_record(id);
    check(r.id == id && r.token == was.token && r.seed == was.seed && r.task == was.task &&
              r.task_hash == was.task_hash && r.options == was.options &&
              r.reward_config == was.reward_config && r.client == was.client &&
              r.reset_key == was.reset_key && r.reset_body == was.reset_body,
          "an episode is read as it was stored");
  }
  refuse(reader.check());
}

}  // namespace

void one(std::string_view input_bytes) {
  static const Base kBase;
  static const std::filesystem::path kPath = scratch() / "journal.db";
  Input input(input_bytes);
  const bool with_log = (input.number(1) & 1u) != 0;
  std::string file = with_log ? kBase.open : kBase.folded, log = with_log ? kBase.log : "";
  while (!input.empty() && file.size() + log.size() < kBytesMax) {
    const auto what = static_cast<unsigned>(input.number(1));
    const auto where = static_cast<std::size_t>(input.number(3));
    edit(with_log && (what & 0x80u) != 0 ? log : file, what & 0x7fu, where,
         static_cast<std::uint8_t>(input.number(1)));
  }
  std::filesystem::remove(kPath.string() + "-shm");
  std::filesystem::remove(kPath.string() + "-wal");
  put_file(kPath, file);
  if (with_log) put_file(kPath.string() + "-wal", log);
  const auto reader = JournalReader::open(kPath);
  if (!reader) return check_error(reader.error());
  check_reader(**reader, kBase, with_log);
}

}  // namespace hone::fuzz
