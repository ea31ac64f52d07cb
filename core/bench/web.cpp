// One web process for each server; rounds with and without browsers, alternately.
#include "bench/web.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>

#include "app/web_process.hpp"
#include "base/clock.hpp"
#include "base/readable.hpp"
#include "bench/browsers.hpp"
#include "bench/client.hpp"
#include "bench/host.hpp"
#include "bench/real_host.hpp"
#include "bench/restart.hpp"
#include "bench/step_load.hpp"
#include "http/http_server.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr double kRateGoal = 0.98, kScreenGoalMs = 1000, kMemoryGoalMb = 200;
constexpr std::size_t kMany = 50;

Result<std::unique_ptr<WebProcess>> open_web(const std::string& program,
                                             const std::string& endpoint,
                                             const std::filesystem::path& journal) {
  WebProcessOptions options;
  options.program = program;
  options.listen = "127.0.0.1:0";
  options.endpoint = endpoint;
  options.log_level = "warning";
  options.log_format = "text";
  options.journal = std::filesystem::absolute(journal).string();
  return WebProcess::start(std::move(options));
}

/// Time to read these paths one after another (ms).
Result<double> get_ms(const std::string& url, const std::vector<std::string>& paths) {
  const double begun_s = monotonic_s();
  for (const std::string& path : paths) HONE_TRY(http_get(url + path));
  return (monotonic_s() - begun_s) * 1e3;
}

/// Peak resident memory of a process (bytes).
Result<double> peak_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return internal_error("bench: the web process has ended");
}

/// Requests of the page's first screens, each the first of its kind.
Status add_screens(const JournalBenchOptions& options, const WebProcess& web,
                   const std::string& episode, Value& figures) {
  const std::string size =
      std::to_string(options.episodes) + " episodes, " + std::to_string(options.turns) + " steps";
  HONE_ASSIGN(const double page, get_ms(web.url(), {"/", "/style.css", "/app.js", "/icon.svg"}));
  HONE_ASSIGN(const double list, get_ms(web.url(), {"/api/about", "/api/episodes"}));
  figures.push(bench_bound("first screen of a journal with " + size, page + list, "ms", page,
                           kScreenGoalMs));
  HONE_ASSIGN(const double one, get_ms(web.url(), {"/api/episodes/" + episode}));
  figures.push(bench_figure("one episode of that journal", one, "ms", page, one / page, 0));
  HONE_ASSIGN(const double course, get_ms(web.url(), {"/api/over_time"}));
  figures.push(bench_figure("speedup and reward over time of that journal, first request", course,
                            "ms", page, course / page, 0));
  HONE_ASSIGN(const double tasks, get_ms(web.url(), {"/api/tasks"}));
  figures.push(bench_figure("figures of all tasks of that journal, first request", tasks, "ms",
                            page, tasks / page, 0));
  return {};
}

/// Steps of all clients. `play` returns steps per second.
using Play = std::function<Result<double>()>;

struct WithBrowsers {
  std::vector<double> rate, ratio, live_s;
  std::size_t requests = 0, failed = 0;
};

/// Plays `rounds` times without browsers and with each number of them, in changing order.
Status compare(const std::string& url, const Play& play, std::size_t rounds,
               std::vector<double>& without, std::map<std::size_t, WithBrowsers>& with) {
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::size_t> order{0};
    for (const auto& [count, found] : with) order.push_back(count);
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    for (const std::size_t count : order) {
      Browsers browsers(url, count);
      HONE_ASSIGN(const double rate, play());
      HONE_ASSIGN(const Browsers::Requests asked, browsers.stop());
      if (count == 0) {
        without.push_back(rate);
        continue;
      }
      WithBrowsers& found = with[count];
      found.rate.push_back(rate);
      found.live_s.insert(found.live_s.end(), asked.live_s.begin(), asked.live_s.end());
      found.requests += asked.all;
      found.failed += asked.failed;
    }
    for (auto& [count, found] : with) found.ratio.push_back(found.rate.back() / without.back());
  }
  return {};
}

void add_rates(const std::string& what, const std::vector<double>& without,
               const std::map<std::size_t, WithBrowsers>& with, Value& figures) {
  for (const auto& [count, found] : with) {
    figures.push(
        bench_figure(what + " with " + counted_text(static_cast<std::int64_t>(count), "browser"),
                     quantile(found.rate, 0.5), "1/s", quantile(without, 0.5),
                     quantile(found.ratio, 0.5), kRateGoal));
  }
  const WithBrowsers& most = with.rbegin()->second;
  const auto all = static_cast<double>(most.requests), failed = static_cast<double>(most.failed);
  figures.push(bench_figure(
      "requests of " + std::to_string(with.rbegin()->first) + " browsers meanwhile that failed",
      failed, "", all, all > 0 ? failed / all : 0, 0));
}

/// Repeats finished steps. The server replies from memory, which is its highest rate.
Status add_noop(const WebBenchOptions& bench, const std::string& endpoint, const std::string& url,
                Value& figures) {
  const JournalBenchOptions& options = bench.journal;
  BenchCrowd crowd(endpoint, options.clients);
  HONE_ASSIGN(const auto episodes, crowd.open(NoopHost::kTask, 1));
  std::vector<BenchCrowd::Requests> requests;
  for (const auto& names : episodes) {
    requests.emplace_back(options.host.steps, bench_step(names.front(), 1, "int main() {}"));
  }
  const Play play = [&]() -> Result<double> {
    const double begun_s = monotonic_s();
    double steps = 0;
    while (monotonic_s() < begun_s + bench.round_s) {
      HONE_TRY(crowd.run(requests));
      steps += static_cast<double>(requests.size() * options.host.steps);
    }
    return steps / (monotonic_s() - begun_s);
  };
  HONE_TRY(play());  // the first round is slower
  std::vector<double> without;
  std::map<std::size_t, WithBrowsers> with{{1, {}}, {kMany, {}}};
  HONE_TRY(compare(url, play, options.host.rounds, without, with));
  add_rates("repeated steps of " + std::to_string(options.clients) + " clients", without, with,
            figures);
  const double one = quantile(with[1].live_s, 0.5) * 1e3;
  const double many = quantile(with[kMany].live_s, 0.99) * 1e3;
  figures.push(bench_figure(
      "the live view's data, p99 with " + std::to_string(kMany) + " browsers over p50 with one",
      many, "ms", one, many / one, 0));
  return crowd.close(episodes);
}

Status add_real(const WebBenchOptions& bench, Value& figures) {
  const JournalBenchOptions& options = bench.journal;
  const auto path = options.folder / "real.db";
  HONE_ASSIGN(const RealHost host, RealHost::start(options, path.filename()));
  HONE_ASSIGN(const auto web, open_web(bench.program, host.server->endpoint(), path));
  BenchCrowd crowd(host.server->endpoint(), options.clients);
  const StepLoad load{options.task, options.builds, 1, options.build_rounds,
                      numbered_steps(options.source)};
  std::vector<double> waits_s;
  std::size_t unscored = 0;
  const Play play_round = [&] { return play(crowd, load, waits_s, &unscored); };
  HONE_TRY(play_round());  // prepares the task
  std::vector<double> without;
  std::map<std::size_t, WithBrowsers> with{{kMany, {}}};
  HONE_TRY(compare(web->url(), play_round, options.build_rounds, without, with));
  add_rates("steps of " + std::to_string(options.clients) + " clients that build and measure",
            without, with, figures);
  const auto all = static_cast<double>(waits_s.size());
  figures.push(bench_figure("unscored steps among those that build and measure",
                            static_cast<double>(unscored), "", all,
                            static_cast<double>(unscored) / all, 0));
  return {};
}

}  // namespace

Result<Value> bench_web(const WebBenchOptions& bench) {
  const JournalBenchOptions& options = bench.journal;
  const auto say = [&](std::string_view what) {
    if (options.say) options.say(what);
  };
  Value figures = Value::array();
  const auto path = options.folder / "web.db";
  say("writing a journal with " + std::to_string(options.turns) + " steps");
  HONE_ASSIGN(const std::string episode, write_long_journal(options, path));
  {
    HONE_ASSIGN(const auto journal, Journal::open({.path = path}));
    HONE_ASSIGN(auto host, NoopHost::start(options.host.open_reward, options.host.reward,
                                           {{}, journal.get()}));
    HONE_ASSIGN(const auto web, open_web(bench.program, host->server().endpoint(), path));
    say("the first screens of the page");
    HONE_TRY(add_screens(options, *web, episode, figures));
    say("repeated steps with browsers");
    HONE_TRY(add_noop(bench, host->server().endpoint(), web->url(), figures));
    HONE_ASSIGN(const double bytes, peak_bytes(web->pid()));
    figures.push(bench_bound("peak memory of the web process", bytes / 1e6, "MB",
                             static_cast<double>(std::filesystem::file_size(path)) / 1e6,
                             kMemoryGoalMb));
  }
  if (options.real) {
    say("steps that build and measure, with browsers");
    HONE_TRY(add_real(bench, figures));
  }
  return figures;
}

}  // namespace hone
