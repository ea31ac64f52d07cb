// Sends the same requests to the host and to an echo server, alternately.
#include "bench/protocol.hpp"

#include <algorithm>
#include <thread>

#include "base/scratch_folder.hpp"
#include "bench/client.hpp"
#include "bench/host.hpp"
#include "model/figure.hpp"
#include "server/keys.hpp"

namespace hone {
namespace {

constexpr std::size_t kInFlight = 64;
constexpr double kGoalOne = 0.8, kGoalMany = 0.5;

/// The echo server: a ROUTER socket on its own thread.
class EchoServer {
 public:
  explicit EchoServer(std::string body)
      : router_(Socket::router(context_, bench_socket_options())), body_(std::move(body)) {}
  ~EchoServer() {
    if (!thread_.joinable()) return;
    Socket last = Socket::dealer(context_, bench_socket_options());
    if (last.connect(endpoint_)) static_cast<void>(last.send(wire::Frames{"end"}));
    thread_.join();
  }
  Status start() {
    HONE_ASSIGN(endpoint_, router_.bind("tcp://127.0.0.1:*"));
    thread_ = std::thread([this] { router_.echo(body_); });
    return {};
  }
  const std::string& endpoint() const { return endpoint_; }

 private:
  SocketContext context_;
  Socket router_;
  std::string body_;
  std::string endpoint_;
  std::thread thread_;
};

/// Opens episodes, plays their steps and closes them.
class Steps {
 public:
  explicit Steps(BenchClient& client) : client_(client) {}

  /// Requests for `count` steps, turn by turn, in new episodes of at most `turns` turns each.
  Result<std::vector<wire::Frames>> open(std::size_t episodes, std::size_t turns) {
    std::vector<Value> names;
    for (std::size_t i = 0; i < episodes; ++i) {
      HONE_ASSIGN(const std::string bytes,
                  client_.ask(bench_request("reset", 0, Value::map({{"task", "bench/noop"}}))));
      HONE_ASSIGN(const Value body, from_msgpack(bytes));
      names.push_back(*body.find("episode"));
    }
    std::vector<wire::Frames> steps;
    for (std::size_t turn = 1; turn <= turns; ++turn) {
      for (const Value& name : names) {
        steps.push_back(bench_step(name, turn, "int main() {}"));
      }
    }
    names_.insert(names_.end(), names.begin(), names.end());
    return steps;
  }

  Status close() {
    for (const Value& name : names_) {
      HONE_TRY(client_.ask(bench_request("close", 0, Value::map({{"episode", name}}))));
    }
    names_.clear();
    return {};
  }

 private:
  BenchClient& client_;
  std::vector<Value> names_;
};

/// Requests per second of both, and the host's relative to the echo's; one value for each round.
struct Rates {
  std::vector<double> host, echo, ratio;

  void add(double count, double host_s, double echo_s) {
    host.push_back(count / host_s);
    echo.push_back(count / echo_s);
    ratio.push_back(echo_s / host_s);
  }
};

Value rate_figure(const std::string& name, std::size_t window, const Rates& rates, double goal) {
  const std::string how = window == 1 ? "one at a time" : std::to_string(window) + " in flight";
  return bench_figure(name + ", " + how, quantile(rates.host, 0.5), "1/s",
                      quantile(rates.echo, 0.5), quantile(rates.ratio, 0.5), goal);
}

/// Each round sends new steps (verdict, reward and history: the cost of a step without its evaluation), then repeats them (no-op). The echo is measured before and after, because the speed of the machine may drift within a round.
Status add_rates(BenchClient& host, BenchClient& echo, const ProtocolBenchOptions& options,
                 std::size_t window, double goal, Value& figures) {
  const auto turns = static_cast<std::size_t>(NoopHost::kTurns);
  const std::size_t steps = window == 1 ? options.steps : 4 * options.steps;
  Rates noop, scored;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    Steps episodes(host);
    HONE_ASSIGN(const auto requests, episodes.open(std::max(window, steps / turns), turns));
    const auto count = static_cast<double>(requests.size());
    HONE_ASSIGN(const double scored_s, host.run(requests, window));
    HONE_ASSIGN(const double before_s, echo.run(requests, window));
    HONE_ASSIGN(const double noop_s, host.run(requests, window));
    HONE_ASSIGN(const double after_s, echo.run(requests, window));
    HONE_TRY(episodes.close());
    const double echo_s = (before_s + after_s) / 2;
    noop.add(count, noop_s, echo_s);
    scored.add(count, scored_s, echo_s);
  }
  figures.push(rate_figure("no-op step", window, noop, goal));
  figures.push(rate_figure("step with verdict and reward", window, scored, 0));
  return {};
}

Status add_latencies(BenchClient& host, BenchClient& echo, std::size_t episodes_open,
                     Value& figures) {
  Steps episodes(host);
  HONE_ASSIGN(const auto requests, episodes.open(episodes_open, 4));
  std::vector<double> noop_s, scored_s, echo_s;
  HONE_TRY(host.run(requests, 1, &scored_s));
  HONE_TRY(echo.run(requests, 1, &echo_s));
  HONE_TRY(host.run(requests, 1, &noop_s));
  HONE_TRY(episodes.close());
  const std::string open = ", " + std::to_string(episodes_open) + " open episodes";
  for (const auto& [name, times] :
       {std::pair("no-op step", &noop_s), std::pair("step with verdict and reward", &scored_s)}) {
    for (const auto& [label, q] : {std::pair(" p50", 0.5), std::pair(" p99", 0.99)}) {
      const double ours_us = quantile(*times, q) * 1e6, echo_us = quantile(echo_s, q) * 1e6;
      figures.push(bench_figure(std::string(name) + label + open, ours_us, "us", echo_us,
                                ours_us / echo_us, 0));
    }
  }
  return {};
}

/// Key pairs of a server and of a client.
class BenchKeys {
 public:
  Status make() {
    HONE_ASSIGN(root_, ScratchFolder::make());
    AllowedClient client;
    client.name = "bench";
    HONE_TRY(add_client({root_.path() / "keys"}, std::move(client), root_.path() / "bench.key"));
    return {};
  }
  std::string folder() const { return (root_.path() / "keys").string(); }
  Result<SocketOptions> client() const {
    SocketOptions options = bench_socket_options();
    HONE_ASSIGN(options.curve, wire::read_key_file((root_.path() / "bench.key").string()));
    return options;
  }

 private:
  ScratchFolder root_;
};

/// The reply to a step, which the echo server sends as well.
Result<std::string> sample_reply(BenchClient& host) {
  Steps episodes(host);
  HONE_ASSIGN(const auto requests, episodes.open(1, 1));
  HONE_ASSIGN(std::string body, host.ask(requests.front()));
  HONE_TRY(episodes.close());
  return body;
}

}  // namespace

Result<Value> bench_protocol(const ProtocolBenchOptions& options) {
  HONE_ASSIGN(auto noop, NoopHost::start(options.open_reward, options.reward));
  BenchClient host(noop->server().endpoint());
  HONE_ASSIGN(std::string body, sample_reply(host));
  EchoServer echo_server(std::move(body));
  HONE_TRY(echo_server.start());
  BenchClient echo(echo_server.endpoint());

  Value figures = Value::array();
  HONE_TRY(add_rates(host, echo, options, 1, kGoalOne, figures));
  HONE_TRY(add_rates(host, echo, options, kInFlight, kGoalMany, figures));
  HONE_TRY(add_latencies(host, echo, options.episodes, figures));
  if (curve_available()) {
    HONE_ASSIGN(Value curve, bench_curve(options));
    figures.push(std::move(curve));
  }
  return figures;
}

Result<Value> bench_curve(const ProtocolBenchOptions& options) {
  HONE_ASSIGN(auto open, NoopHost::start(options.open_reward, options.reward));
  BenchClient plain(open->server().endpoint());
  BenchKeys keys;
  HONE_TRY(keys.make());
  HONE_ASSIGN(const SocketOptions with_key, keys.client());
  HONE_ASSIGN(auto noop,
              NoopHost::start(options.open_reward, options.reward, {keys.folder(), nullptr}));
  BenchClient guarded(noop->server().endpoint(), with_key);
  Steps plain_episodes(plain), guarded_episodes(guarded);
  const auto turns = static_cast<std::size_t>(NoopHost::kTurns);
  const std::size_t episodes = std::max(kInFlight, 4 * options.steps / turns);
  HONE_ASSIGN(const auto plain_steps, plain_episodes.open(episodes, turns));
  HONE_ASSIGN(const auto guarded_steps, guarded_episodes.open(episodes, turns));
  HONE_TRY(plain.run(plain_steps, kInFlight));
  HONE_TRY(guarded.run(guarded_steps, kInFlight));
  Rates rates;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    HONE_ASSIGN(const double before_s, plain.run(plain_steps, kInFlight));
    HONE_ASSIGN(const double guarded_s, guarded.run(guarded_steps, kInFlight));
    HONE_ASSIGN(const double after_s, plain.run(plain_steps, kInFlight));
    rates.add(static_cast<double>(plain_steps.size()), guarded_s, (before_s + after_s) / 2);
  }
  HONE_TRY(guarded_episodes.close());
  HONE_TRY(plain_episodes.close());
  return rate_figure("CURVE over plain, no-op step", kInFlight, rates, 0);
}

}  // namespace hone
