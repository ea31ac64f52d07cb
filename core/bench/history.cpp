// Writes rows in transactions that are as large as the journal's own.
#include "bench/history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.hpp"
#include "journal/writer.hpp"
#include "model/value.hpp"

namespace hone {
namespace {

constexpr std::size_t kBatch = 1024;  // rows

/// Random text, so that compression and deduplication find nothing.
std::string text_of(std::uint64_t number, std::size_t bytes) {
  std::string text = std::to_string(number);
  while (text.size() < bytes) {
    number = number * 6364136223846793005u + 1442695040888963407u;
    text += " " + std::to_string(number);
  }
  text.resize(bytes);
  return text;
}

/// `reply`: the reply of the turn that serves as the model.
TurnRecord turn_of(std::uint64_t episode, std::int64_t turn, const BenchHistory& history,
                   Value reply) {
  const std::uint64_t number = episode * 1000 + static_cast<std::uint64_t>(turn);
  TurnRecord t;
  t.episode = episode;
  t.turn = turn;
  t.action = std::make_shared<const std::string>(
      to_msgpack(Value::map({{"code", text_of(number, history.code_bytes)}})));
  t.hash = sha256(*t.action);
  t.seed = number;
  t.scored = true;
  t.speedup = 1.5;
  t.reward = 0.5;
  reply.set("turn", turn);
  reply.set("said", text_of(~number, history.reply_bytes));
  t.reply = std::make_shared<const std::string>(to_msgpack(reply));
  t.at = 1;
  return t;
}

Status write_all(Writer& writer, EpisodeRecord& record, const Value& reply,
                 const BenchHistory& history) {
  const std::size_t each = history.turns / history.episodes;
  std::size_t rows = 0;
  HONE_TRY(writer.begin());
  for (std::size_t n = 0; n < history.episodes; ++n) {
    random_bytes(record.token);
    record.id = random_u64() >> 1 | 1;
    HONE_TRY(writer.write(record));
    for (std::size_t turn = 1; turn <= each; ++turn) {
      HONE_TRY(writer.write(
          TurnRow(turn_of(record.id, static_cast<std::int64_t>(turn), history, reply))));
    }
    if (history.released) HONE_TRY(writer.release(record.id, RecordState::kClosed, 1));
    rows += each + 1;
    if (rows < kBatch) continue;
    rows = 0;
    HONE_TRY(writer.commit());
    HONE_TRY(writer.begin());
  }
  return writer.commit();
}

}  // namespace

Result<EpisodeRecord> write_history(const std::filesystem::path& path, const StoredEpisode& like,
                                    const BenchHistory& history) {
  EpisodeRecord record = like.record;
  record.reset_key.reset();
  HONE_ASSIGN(const Value reply, from_msgpack(*like.turns.front().reply));
  const std::string log = path.string() + "-wal", kept = path.string() + ".kept";
  {
    HONE_ASSIGN(const auto writer, Writer::open(path, {}));
    HONE_TRY(write_all(*writer, record, reply, history));
    std::error_code error;
    if (history.killed) std::filesystem::copy_file(log, kept, error);
    if (error) return system_error("copy " + log, error.value());
  }  // which folds the log into the file
  std::error_code error;
  if (history.killed) std::filesystem::rename(kept, log, error);
  if (error) return system_error("rename " + kept, error.value());
  return record;
}

Status forget_cached(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return system_error("open " + path.string(), errno);
  if (::fsync(fd.get()) != 0) return system_error("sync " + path.string(), errno);
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

}  // namespace hone
