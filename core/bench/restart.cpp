// Starts servers with existing journals.
#include "bench/restart.hpp"

#include "base/clock.hpp"
#include "bench/client.hpp"
#include "bench/history.hpp"
#include "bench/host.hpp"
#include "episode/episode.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr double kWaitGoalMs = 50, kRestartGoalS = 2;
constexpr std::size_t kRetentionRounds = 1000;  // an upper bound that is never reached

/// Makes a journal with one episode of one turn.
Result<StoredEpisode> first_episode(const JournalBenchOptions& options,
                                    const std::filesystem::path& path) {
  HONE_ASSIGN(const auto journal, Journal::open({.path = path}));
  HONE_ASSIGN(auto host,
              NoopHost::start(options.host.open_reward, options.host.reward, {{}, journal.get()}));
  BenchClient client(host->server().endpoint());
  HONE_ASSIGN(const std::string bytes,
              client.ask(bench_request("reset", 0, Value::map({{"task", NoopHost::kTask}}))));
  HONE_ASSIGN(const Value body, from_msgpack(bytes));
  const Value& name = *body.find("episode");
  HONE_TRY(client.ask(bench_step(name, 1, "int main() {}")));
  HONE_ASSIGN(auto stored, journal->reader().episode(episode_number(name.as_string())));
  if (!stored) return internal_error("bench: the journal does not have its first episode");
  return std::move(*stored);
}

/// Seconds until a server with this journal has answered a request about that episode.
Result<double> first_reply_s(const JournalBenchOptions& options, const std::filesystem::path& path,
                             const EpisodeRecord& record) {
  Episode episode;
  episode.id = record.id;
  episode.token = record.token;
  const wire::Frames resume = bench_request(
      "resume", 0, Value::map({{"episode", episode.name()}, {"token", episode.token_text()}}));
  HONE_TRY(forget_cached(path));
  const std::int64_t start_ns = monotonic_ns();
  HONE_ASSIGN(const auto journal, Journal::open({.path = path}));
  HONE_ASSIGN(auto host,
              NoopHost::start(options.host.open_reward, options.host.reward, {{}, journal.get()}));
  BenchClient client(host->server().endpoint());
  HONE_TRY(client.ask(resume));
  return static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
}

std::int64_t count(const Journal& journal, const char* what) {
  return journal.stats().find(what)->as_int();
}

struct Waits {
  std::vector<double> all_s;
  double upkeep_ms = 0;
};

/// Runs steps of all clients until `forgotten` episodes are deleted; two rounds if `forgotten` is 0.
Result<Waits> waits(const JournalBenchOptions& options, const std::filesystem::path& path,
                    double keep_days, std::size_t forgotten) {
  HONE_ASSIGN(const auto journal, Journal::open({.path = path, .keep_days = keep_days}));
  HONE_ASSIGN(auto host,
              NoopHost::start(options.host.open_reward, options.host.reward, {{}, journal.get()}));
  BenchCrowd crowd(host->server().endpoint(), options.clients);
  Waits waits;
  const auto turns = static_cast<std::size_t>(NoopHost::kTurns);
  for (std::size_t round = 0; round < kRetentionRounds; ++round) {
    if (forgotten == 0 ? round == 2
                       : count(*journal, "forgotten") >= static_cast<std::int64_t>(forgotten)) {
      break;
    }
    HONE_ASSIGN(const auto episodes, crowd.open(NoopHost::kTask, 1));
    std::vector<BenchCrowd::Requests> requests(crowd.size());
    for (std::size_t i = 0; i < crowd.size(); ++i) {
      for (std::size_t turn = 1; turn <= turns; ++turn) {
        requests[i].push_back(bench_step(episodes[i].front(), turn, std::to_string(round)));
      }
    }
    HONE_TRY(crowd.run(requests, &waits.all_s));
    HONE_TRY(crowd.close(episodes));
  }
  const double went = static_cast<double>(count(*journal, "forgotten"));
  if (went < static_cast<double>(forgotten)) {
    return internal_error("bench: old episodes were not deleted");
  }
  waits.upkeep_ms = journal->stats().find("upkeep_ms_max")->as_double();
  return waits;
}

}  // namespace

Status add_retention(const JournalBenchOptions& options, Value& figures) {
  const auto path = options.folder / "retention.db";
  HONE_ASSIGN(StoredEpisode like, first_episode(options, path));
  like.record.opened_at = 1;
  HONE_TRY(write_history(path, like,
                         {.episodes = options.forgotten,
                          .turns = options.forgotten * options.forgotten_turns,
                          .code_bytes = 4096,
                          .reply_bytes = 8192,
                          .released = true}));
  HONE_ASSIGN(const Waits without, waits(options, path, 0, 0));
  HONE_ASSIGN(const Waits with, waits(options, path, 1, options.forgotten));
  const std::string name = "longest wait of a step while old episodes are forgotten, " +
                           std::to_string(options.clients) + " clients";
  figures.push(bench_bound(name, quantile(with.all_s, 1) * 1e3, "ms",
                           quantile(without.all_s, 1) * 1e3, kWaitGoalMs));
  figures.push(bench_bound("longest that forgetting kept the writer", with.upkeep_ms, "ms",
                           without.upkeep_ms, kWaitGoalMs));
  return {};
}

Status add_restart(const JournalBenchOptions& options, Value& figures) {
  const auto small = options.folder / "small.db", large = options.folder / "large.db";
  HONE_ASSIGN(const StoredEpisode one, first_episode(options, small));
  HONE_ASSIGN(const StoredEpisode like, first_episode(options, large));
  HONE_ASSIGN(
      const EpisodeRecord last,
      write_history(large, like,
                    {.episodes = options.episodes, .turns = options.turns, .killed = true}));
  const auto bytes = static_cast<double>(std::filesystem::file_size(large));
  HONE_ASSIGN(const double small_s, first_reply_s(options, small, one.record));
  HONE_ASSIGN(const double large_s, first_reply_s(options, large, last));
  figures.push(bench_bound("restart until the first reply, " + std::to_string(options.episodes) +
                               " episodes, " + std::to_string(options.turns) + " steps",
                           large_s, "s", small_s, kRestartGoalS));
  figures.push(bench_figure("a step in that journal", bytes / static_cast<double>(options.turns),
                            "B", 256 + 1024,
                            bytes / static_cast<double>(options.turns) / (256 + 1024), 0));
  return {};
}

Result<std::string> write_long_journal(const JournalBenchOptions& options,
                                       const std::filesystem::path& path) {
  HONE_ASSIGN(const StoredEpisode like, first_episode(options, path));
  HONE_ASSIGN(const EpisodeRecord last,
              write_history(path, like, {.episodes = options.episodes, .turns = options.turns}));
  return episode_name(last.id);
}

}  // namespace hone
