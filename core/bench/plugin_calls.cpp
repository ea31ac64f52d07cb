// Interleaves rounds of the three kinds of calls, so that disturbances affect all alike.
#include "bench/plugin_calls.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "conformance/verdict_fixtures.hpp"
#include "judge/timing/statistics.hpp"
#include "model/figure.hpp"

namespace hone {
namespace {

/// No goal: whether isolation is worth its cost is the user's decision.
Value four_turns() {
  for (const VerdictFixture& fixture : verdict_fixtures()) {
    if (fixture.name == "climb") return fixture.episode;
  }
  return verdict_fixtures().back().episode;
}

/// Microseconds for each call, in one round.
Result<double> round(const Reward& reward, const Value& episode, int calls) {
  const std::int64_t before = monotonic_ns();
  for (int i = 0; i < calls; ++i) HONE_TRY(reward.score(episode));
  return static_cast<double>(monotonic_ns() - before) / 1e3 / calls;
}

struct Hosted {
  std::shared_ptr<const HostedPlugin> plugin;
  std::unique_ptr<Reward> reward;
  double first_answer_ms = 0;
};

Result<Hosted> start(const std::filesystem::path& path, const PluginHostOptions& options,
                     const std::shared_ptr<HostStarter>& starter, const Value& episode) {
  Hosted hosted;
  const std::int64_t before = monotonic_ns();
  HONE_ASSIGN(hosted.plugin, HostedPlugin::start(path, options, starter));
  HONE_ASSIGN(auto calls, hosted.plugin->create_reward(Value::map()));
  hosted.reward = std::make_unique<Reward>(hosted.plugin->name(), Value::map(), std::move(calls));
  HONE_TRY(hosted.reward->score(episode));
  hosted.first_answer_ms = static_cast<double>(monotonic_ns() - before) / 1e6;
  return hosted;
}

}  // namespace

Result<Value> bench_plugins(const PluginBenchOptions& options) {
  const Value episode = four_turns();
  const auto starter = std::make_shared<HostStarter>();
  HONE_ASSIGN(const PluginLibrary library, PluginLibrary::load(options.library));
  HONE_ASSIGN(const auto inside,
              Reward::create(library, Value::map(),
                             std::make_shared<HostServices>(library.name(), HostOptions{})));
  HONE_ASSIGN(const Hosted outside, start(options.library, options.hosts, starter, episode));
  HONE_ASSIGN(const Hosted python, start(options.python, options.hosts, starter, episode));
  const Reward* rewards[] = {inside.get(), outside.reward.get(), python.reward.get()};
  std::vector<double> took_us[3];
  for (int i = 0; i < options.rounds; ++i) {
    for (std::size_t which = 0; which < 3; ++which) {
      HONE_ASSIGN(const double us, round(*rewards[which], episode, options.calls));
      took_us[which].push_back(us);
    }
  }
  const double base = median(took_us[0]), hosted = median(took_us[1]),
               in_python = median(took_us[2]);
  return Value::array({
      figure("score() of 4 turns, a library in hone", base, "µs", base),
      figure("score() of 4 turns, the same in a plugin host", hosted, "µs", base),
      figure("score() of 4 turns, one in Python", in_python, "µs", base),
      figure("score() of 4 turns, Python over a library in a plugin host", in_python, "µs", hosted),
      figure("start to first answer, one in Python", python.first_answer_ms, "ms",
             outside.first_answer_ms),
  });
}

}  // namespace hone
