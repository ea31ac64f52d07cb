// Runs the same steps with and without the journal, alternately.
#include "bench/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "bench/client.hpp"
#include "bench/host.hpp"
#include "bench/real_host.hpp"
#include "bench/restart.hpp"
#include "bench/step_load.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr double kGoalNoop = 0.5, kGoalReal = 0.9;

/// Figures of steps with and without the journal.
struct Compared {
  std::vector<double> on, off, ratio;  ///< steps per second; `ratio` is on / off
  std::vector<double> on_s, off_s;     ///< duration of each step
};

/// Runs both once in each round, and alternates which comes first.
Result<Compared> compare(BenchCrowd& on, BenchCrowd& off, const StepLoad& load) {
  Compared compared;
  for (std::size_t round = 0; round < load.rounds; ++round) {
    for (const bool journalled : {round % 2 == 0, round % 2 != 0}) {
      HONE_ASSIGN(const double rate,
                  play(journalled ? on : off, load, journalled ? compared.on_s : compared.off_s));
      (journalled ? compared.on : compared.off).push_back(rate);
    }
    compared.ratio.push_back(compared.on.back() / compared.off.back());
  }
  return compared;
}

Value rate_figure(const std::string& name, const Compared& compared, double goal) {
  return bench_figure(name, quantile(compared.on, 0.5), "1/s", quantile(compared.off, 0.5),
                      quantile(compared.ratio, 0.5), goal);
}

/// Median time to make one more page durable (ms).
Result<double> page_ms(const std::filesystem::path& folder) {
  const std::string path = folder / "page";
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return system_error("open " + path, errno);
  const std::string page(4096, 'p');
  std::vector<double> took_ms;
  for (int n = 0; n < 101; ++n) {
    const std::int64_t start_ns = monotonic_ns();
    if (::write(fd.get(), page.data(), page.size()) != static_cast<ssize_t>(page.size()) ||
        ::fdatasync(fd.get()) != 0) {
      return system_error("write " + path, errno);
    }
    took_ms.push_back(static_cast<double>(monotonic_ns() - start_ns) * 1e-6);
  }
  return quantile(std::move(took_ms), 0.5);
}

/// Bytes of the file for each turn, compared with the bytes of its action and reply.
Result<Value> bytes_figure(const std::string& name, const std::filesystem::path& path) {
  HONE_ASSIGN(const auto reader, JournalReader::open(path));
  double said = 0, turns = 0;
  HONE_TRY(reader->each({}, [&](const StoredEpisode& episode) -> Status {
    for (const TurnRecord& turn : episode.turns) {
      said += static_cast<double>(turn.action->size() + turn.reply->size());
      ++turns;
    }
    return {};
  }));
  if (turns == 0) return internal_error("bench: the journal holds no turn");
  const double bytes = static_cast<double>(std::filesystem::file_size(path)) / turns;
  return bench_figure(name, bytes, "B", said / turns, bytes * turns / said, 0);
}

Status add_noop(const JournalBenchOptions& options, Value& figures) {
  const ProtocolBenchOptions& host = options.host;
  const auto path = options.folder / "noop.db";
  {
    HONE_ASSIGN(const auto journal, Journal::open({.path = path}));
    HONE_ASSIGN(auto off, NoopHost::start(host.open_reward, host.reward));
    HONE_ASSIGN(auto on, NoopHost::start(host.open_reward, host.reward, {{}, journal.get()}));
    const auto turns = static_cast<std::size_t>(NoopHost::kTurns);
    StepLoad load{NoopHost::kTask, host.steps, turns, host.rounds,
                  [](std::size_t n) { return "int main() { return " + std::to_string(n) + "; }"; }};
    BenchCrowd many_on(on->server().endpoint(), options.clients);
    BenchCrowd many_off(off->server().endpoint(), options.clients);
    HONE_ASSIGN(const Compared many, compare(many_on, many_off, load));
    const std::string clients = std::to_string(options.clients) + " clients";
    figures.push(rate_figure("no-op steps with the journal, " + clients, many, kGoalNoop));
    BenchCrowd one_on(on->server().endpoint(), 1), one_off(off->server().endpoint(), 1);
    load.steps *= 4;
    HONE_ASSIGN(const Compared one, compare(one_on, one_off, load));
    HONE_ASSIGN(const double page, page_ms(options.folder));
    const double added = (quantile(one.on_s, 0.5) - quantile(one.off_s, 0.5)) * 1e3;
    figures.push(bench_figure("added to one step, against one synced page", added, "ms", page,
                              added / page, 0));
  }
  HONE_ASSIGN(Value bytes, bytes_figure("a no-op step in the journal", path));
  figures.push(std::move(bytes));
  return {};
}

Status add_real(const JournalBenchOptions& options, Value& figures) {
  {
    HONE_ASSIGN(const RealHost on, RealHost::start(options, "real.db"));
    HONE_ASSIGN(const RealHost off, RealHost::start(options, ""));
    BenchCrowd many_on(on.server->endpoint(), options.clients);
    BenchCrowd many_off(off.server->endpoint(), options.clients);
    HONE_ASSIGN(const Compared many, compare(many_on, many_off,
                                             {options.task, options.builds, 1, options.build_rounds,
                                              numbered_steps(options.source)}));
    figures.push(rate_figure("steps that build and measure with the journal, " +
                                 std::to_string(options.clients) + " clients",
                             many, kGoalReal));
  }
  {
    HONE_ASSIGN(const RealHost on, RealHost::start(options, "broken.db"));
    BenchCrowd one(on.server->endpoint(), 1);
    std::vector<double> waits_s;
    HONE_TRY(play(one, {options.task, 16, 4, 1, numbered_steps(options.broken)}, waits_s));
  }
  for (const auto& [name, file] :
       {std::pair("a step that builds and measures, in the journal", "real.db"),
        std::pair("a step that does not build, in the journal", "broken.db")}) {
    HONE_ASSIGN(Value bytes, bytes_figure(name, options.folder / file));
    figures.push(std::move(bytes));
  }
  return {};
}

}  // namespace

Result<Value> bench_journal(const JournalBenchOptions& options) {
  const auto say = [&](std::string_view what) {
    if (options.say) options.say(what);
  };
  Value figures = Value::array();
  say("steps that do nothing");
  HONE_TRY(add_noop(options, figures));
  if (options.real) {
    say("steps that build and measure");
    HONE_TRY(add_real(options, figures));
  }
  say("steps while old episodes are forgotten");
  HONE_TRY(add_retention(options, figures));
  say("writing " + std::to_string(options.turns) + " steps to start again from");
  HONE_TRY(add_restart(options, figures));
  if (curve_available()) {
    say("with CURVE and without");
    HONE_ASSIGN(Value curve, bench_curve(options.host));
    figures.push(std::move(curve));
  }
  return figures;
}

}  // namespace hone
