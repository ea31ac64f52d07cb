// The benchmark runs end to end; how fast is not a test's business.
#include <gtest/gtest.h>

#include "bench/client.hpp"
#include "bench/fairness.hpp"
#include "bench/protocol.hpp"
#include "places.hpp"
#include "plugin/registry.hpp"
#include "server/scripted_service.hpp"
#include "server/test_client.hpp"

namespace hone {
namespace {

TEST(BenchProtocol, SmallRun_HasAllFigures) {
  RegistryOptions registry_options;
  registry_options.roots = {test::build_dir()};
  const Registry registry(registry_options);
  ProtocolBenchOptions options;
  options.open_reward = [&registry](const std::string& name, const Value& config) {
    return registry.open_reward(name, config);
  };
  // HONE_BENCH_STEPS=2000 makes it the real one, whose figures it then prints.
  const char* steps = std::getenv("HONE_BENCH_STEPS");
  options.rounds = steps != nullptr ? 5 : 1;
  options.steps = steps != nullptr ? std::stoul(steps) : 64;
  options.episodes = steps != nullptr ? 1000 : 20;
  const auto figures = bench_protocol(options);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  std::vector<std::string> names;
  for (const Value& figure : figures->as_array()) {
    names.push_back(figure.find("name")->as_string());
    EXPECT_GT(figure.find("value")->as_double(), 0);
    EXPECT_GT(figure.find("baseline")->as_double(), 0);
    EXPECT_GT(figure.find("ratio")->as_double(), 0);
    if (steps != nullptr) std::puts(to_json(figure).c_str());
  }
  const std::string open = ", " + std::to_string(options.episodes) + " open episodes";
  EXPECT_EQ(names, (std::vector<std::string>{
                       "no-op step, one at a time", "step with verdict and reward, one at a time",
                       "no-op step, 64 in flight", "step with verdict and reward, 64 in flight",
                       "no-op step p50" + open, "no-op step p99" + open,
                       "step with verdict and reward p50" + open,
                       "step with verdict and reward p99" + open,
                       "CURVE over plain, no-op step, 64 in flight"}));
}

TEST(BenchFairness, SmallRun_HasAllFigures) {
  RegistryOptions registry_options;
  registry_options.roots = {test::build_dir()};
  const Registry registry(registry_options);
  ProtocolBenchOptions options;
  options.open_reward = [&registry](const std::string& name, const Value& config) {
    return registry.open_reward(name, config);
  };
  options.rounds = 1;
  options.steps = 64;
  const auto figures = bench_fairness(options);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  ASSERT_EQ(figures->as_array().size(), 3u);
  for (const Value& figure : figures->as_array()) {
    EXPECT_GT(figure.find("value")->as_double(), 0);
    EXPECT_GT(figure.find("ratio")->as_double(), 0);
  }
}

TEST(BenchCrowd, StepsWithoutAReward_AreCounted) {
  ScriptedService service;
  auto server = start_server(service);
  BenchCrowd crowd(server->endpoint(), 2);
  const auto steps = [](std::initializer_list<const char*> codes) {
    BenchCrowd::Requests requests;
    for (const char* code : codes)
      requests.push_back(bench_step("episode", requests.size() + 1, code));
    return requests;
  };
  std::size_t unscored = 5;
  const auto ran =
      crowd.run({steps({"now", "fault", "now"}), steps({"fault", "fault"})}, nullptr, &unscored);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(unscored, 5u + 3u) << "they are added to those of earlier rounds";
}

TEST(BenchProtocol, FailedStep_IsAnError) {
  ProtocolBenchOptions options;
  options.open_reward = [](const std::string& name,
                           const Value&) -> Result<std::unique_ptr<Reward>> {
    return not_found("no reward is called '" + name + "'");
  };
  const auto figures = bench_protocol(options);
  ASSERT_FALSE(figures.ok());
  EXPECT_NE(figures.error().message.find("no reward is called 'tritonforge'"), std::string::npos)
      << figures.error().message;
}

}  // namespace
}  // namespace hone
