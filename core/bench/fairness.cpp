// The eight measured clients run on this thread, the flooding client on another.
#include "bench/fairness.hpp"

#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "bench/client.hpp"
#include "bench/host.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

constexpr std::size_t kPolite = 8, kFlood = 1000;

/// A client that repeats the same steps, with a thousand in flight, until it is stopped.
class Flood {
 public:
  explicit Flood(const std::string& endpoint) : client_(endpoint) {}
  ~Flood() { static_cast<void>(stop()); }

  Status start() {
    std::vector<wire::Frames> steps;
    HONE_ASSIGN(const std::string bytes,
                client_.ask(bench_request("reset", 0, Value::map({{"task", NoopHost::kTask}}))));
    HONE_ASSIGN(const Value body, from_msgpack(bytes));
    steps.assign(4 * kFlood, bench_step(*body.find("episode"), 1, "int main() {}"));
    thread_ = std::thread([this, steps = std::move(steps)] {
      const std::int64_t start_ns = monotonic_ns();
      while (!stop_ && status_.ok()) {
        const auto took = client_.run(steps, kFlood);
        if (!took) status_ = took.error();
        done_ += steps.size();
      }
      seconds_ = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
    });
    return {};
  }
  /// Requests per second.
  Result<double> stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    HONE_TRY(status_);
    return static_cast<double>(done_) / seconds_;
  }

 private:
  BenchClient client_;
  std::atomic<bool> stop_{false};
  // Used by the thread only, until it has been joined.
  Status status_;
  std::size_t done_ = 0;
  double seconds_ = 1;
  std::thread thread_;
};

/// The measured clients. They repeat finished steps, which changes nothing.
struct Polite {
  BenchCrowd crowd;
  std::vector<BenchCrowd::Requests> requests;

  static Status make(Polite& polite, std::size_t steps) {
    HONE_ASSIGN(const auto episodes, polite.crowd.open(NoopHost::kTask, 1));
    for (const auto& names : episodes) {
      polite.requests.emplace_back(steps, bench_step(names.front(), 1, "int main() {}"));
    }
    return {};
  }
  Result<double> rate(std::vector<double>& waits_s) {
    HONE_ASSIGN(const double seconds, crowd.run(requests, &waits_s));
    return static_cast<double>(requests.size() * requests.front().size()) / seconds;
  }
};

}  // namespace

Result<Value> bench_fairness(const ProtocolBenchOptions& options) {
  HONE_ASSIGN(auto host, NoopHost::start(options.open_reward, options.reward));
  const std::string& endpoint = host->server().endpoint();
  Polite polite{BenchCrowd(endpoint, kPolite), {}};
  HONE_TRY(Polite::make(polite, options.steps));
  std::vector<double> alone, beside, flooded, ratio, alone_s, beside_s;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    HONE_ASSIGN(const double before, polite.rate(alone_s));
    Flood flood(endpoint);
    HONE_TRY(flood.start());
    HONE_ASSIGN(const double during, polite.rate(beside_s));
    HONE_ASSIGN(const double of_flood, flood.stop());
    HONE_ASSIGN(const double after, polite.rate(alone_s));
    alone.push_back((before + after) / 2);
    beside.push_back(during);
    flooded.push_back(of_flood);
    ratio.push_back(during / alone.back());
  }
  const std::string who =
      std::to_string(kPolite) + " clients, one step at a time each, during a flood";
  const double one = quantile(beside, 0.5) / kPolite;
  const double p99_us = quantile(beside_s, 0.99) * 1e6, alone_us = quantile(alone_s, 0.99) * 1e6;
  return Value::array(
      {bench_figure(who, quantile(beside, 0.5), "1/s", quantile(alone, 0.5), quantile(ratio, 0.5),
                    0),
       bench_figure(who + ", p99", p99_us, "us", alone_us, p99_us / alone_us, 0),
       bench_figure("the flood's, " + std::to_string(kFlood) + " in flight, against one of them",
                    quantile(flooded, 0.5), "1/s", one, quantile(flooded, 0.5) / one, 0)});
}

}  // namespace hone
