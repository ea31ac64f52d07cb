// Parts that are made from a configuration, and the error of each mistake.
#include "app/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

#include "app/load_config.hpp"
#include "episode/scripted_evaluator.hpp"
#include "places.hpp"
#include "sandbox/process_watch.hpp"

namespace hone {
namespace {

Config config_of(const std::vector<std::string>& sets) {
  auto loaded = load_config({}, sets, backends_below(test::build_dir()));
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  // The programs of this test lie below tests/: what ships is named.
  return loaded ? loaded->config : Config();
}

RegistryOptions shipped() { return {{test::build_dir()}, {}, plugin_services()}; }

std::string builtin() {
  return "{name: tasks, config: {path: " + test::source_dir().string() +
         "/envs/kernel_refine/tasks}}";
}

TEST(HostParts, Tasks_AreReadThroughThePlugin) {
  const Registry registry(shipped());
  const auto catalog = open_catalog(config_of({"datasets=[" + builtin() + "]"}), registry);
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_GE((*catalog)->list("")->size(), 16u);
  EXPECT_TRUE((*catalog)->find("tasks/add_relu"));
}

TEST(HostParts, UnknownDatasetPlugin_NamesTheDatasetAndTheNearest) {
  const Registry registry(shipped());
  const auto catalog = open_catalog(config_of({"datasets=[{name: mine, plugin: taks}]"}), registry);
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().message.find("dataset 'mine': "), 0u) << catalog.error().message;
  EXPECT_NE(catalog.error().message.find("did you mean 'tasks'?"), std::string::npos)
      << catalog.error().message;
}

TEST(HostParts, MissingCompiler_ErrorNamesThePackage) {
  const Registry registry(shipped());
  const auto options = evaluator_options(config_of({"cpu.c++.path=/nonexistent/g++"}), registry);
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message,
            "cpu.c++.path: /nonexistent/g++: no such compiler; apt-get install g++");
  EXPECT_EQ(options.error().code, Code::kFailedPrecondition);
}

TEST(HostParts, Configuration_ReachesTheEvaluator) {
  const Registry registry(shipped());
  const auto options = evaluator_options(
      config_of({"evaluate.builders=3", "evaluate.measure.singles=0", "cpu.c.flags=[-O1]",
                 "cpu.devices=[{judge_cpu: 0, cores: [1]}, {judge_cpu: 2, cores: [3, 4]}]"}),
      registry);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->builders, 3);
  EXPECT_EQ(options->measure.single_call_pairs, 0);
  EXPECT_EQ(options->toolchains.at("c").flags, std::vector<std::string>{"-O1"});
  ASSERT_EQ(options->devices.size(), 2u);
  EXPECT_EQ(options->devices[1].index, 1);
  EXPECT_EQ(options->devices[1].cores, (std::vector<int>{3, 4}));
}

/// This thread may use only this core, as under taskset.
class OnlyCore {
 public:
  explicit OnlyCore(int core) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(core), &only);
    sched_setaffinity(0, sizeof only, &only);
  }
  ~OnlyCore() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(HostParts, DevicesOfARestrictedProcess_UseItsCores) {
  const int last = cores_of(0).back();
  if (last == 0) GTEST_SKIP() << "one core";
  const OnlyCore restricted(last);
  const Registry registry(shipped());
  const auto options = evaluator_options(config_of({}), registry);
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->devices.size(), 1u);
  EXPECT_EQ(options->devices[0].judge_cpu, last);
  EXPECT_EQ(options->devices[0].cores, std::vector{last});
}

TEST(HostParts, Builders_FollowFromTheCores) {
  EXPECT_EQ(builder_count(config_of({})), 1);
  EXPECT_EQ(builder_count(config_of({"backend=cuda"})), std::clamp(cpu_count() / 3, 1, 16));
  EXPECT_EQ(builder_count(config_of({"backend=cuda", "evaluate.builders=7"})), 7);
}

TEST(HostParts, Lanes_AreForRecordedPlans) {
  const auto lanes = [](const std::string& backend, const std::string& modules) {
    const Config config = config_of({"backend=" + backend, backend + ".python=/usr/bin/python3",
                                     backend + ".modules=" + modules, backend + ".module_lanes=3"});
    return module_lanes(*device_config(config, backend));
  };
  EXPECT_EQ(lanes("cuda", "auto"), 3);
  EXPECT_EQ(lanes("cuda", "plan"), 3);
  EXPECT_EQ(lanes("cuda", "process"), 1);
  EXPECT_EQ(lanes("hip", "auto"), 1);
}

TEST(HostParts, MistakeInTheDefaultReward_FailsAtTheStart) {
  const Registry registry(shipped());
  auto catalog = open_catalog(config_of({"datasets=[" + builtin() + "]"}), registry);
  ASSERT_TRUE(catalog);
  ScriptedEvaluator evaluator(
      [](const Submission&) -> Result<Verdict> { return ScriptedEvaluator::correct(1); });
  const auto service = make_episodes(config_of({"reward={name: kevni}"}), registry,
                                     std::move(catalog).value(), evaluator, "none");
  ASSERT_FALSE(service);
  EXPECT_NE(service.error().message.find("kevni"), std::string::npos) << service.error().message;
}

TEST(HostParts, Server_GetsItsLimits) {
  const ServerOptions options =
      server_options(config_of({"server.limits.frames=9", "server.heartbeat_s=3"}));
  EXPECT_EQ(options.limits.frames_max, 9u);
  EXPECT_EQ(options.heartbeat_s, 3);
  EXPECT_EQ(launcher_options(config_of({"isolation.minimum=separated"})).minimum,
            IsolationLevel::kSeparated);
}

}  // namespace
}  // namespace hone
