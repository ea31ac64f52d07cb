// Memory use of an open episode of two turns, without its history.
#include "episode/idle.hpp"

#include <cstdio>
#include <cstdlib>

#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

using IdleTest = ServiceTest;

TEST_F(IdleTest, OpenEpisode_CostsLittleBeyondItsHistory) {
  const char* given = std::getenv("HONE_IDLE_EPISODES");
#ifdef HONE_SANITIZED
  constexpr std::size_t kEpisodes = 1'000;  // what each costs is not asserted there
#else
  constexpr std::size_t kEpisodes = 10'000;
#endif
  const std::size_t episodes = given != nullptr ? std::strtoull(given, nullptr, 10) : kEpisodes;
  ScriptedEvaluator quick([](const Submission&) { return ScriptedEvaluator::correct(1.5); });
  auto environment = make_kernel_refine({.templates = templates_folder()});
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::move(*environment));
  auto lean =
      make_episode_service({}, std::move(environments),
                           *Catalog::open({task_list("tasks", {small_task()})}, {}), quick, shipped)
          .value();
  const auto figure = measure_idle(*lean, episodes, Value::map({{"task", "add_relu"}}));
  ASSERT_TRUE(figure.ok()) << figure.error().message;
  std::printf("%zu episodes: %.0f bytes each, %.0f of them history, %.0f beyond it\n",
              figure->episodes, figure->bytes_each(),
              static_cast<double>(figure->history_bytes) / static_cast<double>(episodes),
              figure->bytes_beyond_history());
#ifndef HONE_SANITIZED
  EXPECT_LE(figure->bytes_beyond_history(), 2048);
#endif
  EXPECT_GT(figure->history_bytes, 2 * 1000 * episodes);
}

}  // namespace
}  // namespace hone::test
