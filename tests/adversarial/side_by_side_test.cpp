// Submissions that attack each other: at the same time on two devices, and one after the other on one device.
// tests/sandbox/neighbours_test.cpp tests the sandboxes alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "adversarial/attack.hpp"
#include "adversarial/court.hpp"

namespace hone::test {
namespace {

using Answer = std::future<Result<Verdict>>;

Answer submit(Machine& machine, const std::string& source, const std::string& client) {
  Submission submission;
  submission.task = machine.task("add_relu");
  submission.language = "c++";
  submission.source = source;
  submission.client = submission.episode = client;
  submission.seed = 7;
  auto promise = std::make_shared<std::promise<Result<Verdict>>>();
  Answer answer = promise->get_future();
  const auto id = machine.evaluator().submit(
      std::move(submission), [](Stage) {},
      [promise](Result<Verdict> verdict) { promise->set_value(std::move(verdict)); });
  EXPECT_TRUE(id) << id.error().message;
  return answer;
}

TEST(SideBySide, Attacker_DoesNotAffectAConcurrentSubmission) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  auto machine = two_at_a_time();
  ASSERT_TRUE(machine) << machine.error().message;
  const std::string honest = (*machine)->task("add_relu")->backends.at("cpu").baseline.text;
  for (const char* attack : {"kill_others", "watch_others", "trace_itself", "write_the_orders",
                             "find_a_note", "read_passwd"}) {
    // Another source each time, or it would come from the cache and before the attacker.
    Answer theirs = submit(**machine, honest + "// next to " + attack + "\n", "honest");
    Answer hostile = submit(**machine, source_of(attack), "hostile");
    const Result<Verdict> verdict = theirs.get(), caught = hostile.get();
    EXPECT_EQ(difference(verdict, {{Outcome::kCorrect}}), "") << "next to " << attack;
    EXPECT_EQ(difference(caught, {{Outcome::kCrashed}}), "") << attack;
  }
  const Value stats = (*machine)->evaluator().stats();
  const Value& clients = *stats.find("clients");
  // A busy machine may cause the class of single rounds; no other class may occur.
  EXPECT_EQ(clients.find("honest")->find("caught")->find("forbidden_call"), nullptr);
  EXPECT_EQ(clients.find("hostile")->find("caught")->find("forbidden_call")->as_int(), 1);
  EXPECT_EQ(clients.find("hostile")->find("judged")->as_int(), 6);
}

/// Many template instances, so that it takes a compiler a second or two.
std::string slow_to_build() {
  std::string source =
      "#include <cstdint>\n#include <algorithm>\n#include <map>\n#include <regex>\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    source += "struct S" + n + " { int a; bool operator<(const S" + n +
              "& o) const { return a < o.a; } };\n";
    source += "int f" + n + "(int x) { std::map<S" + n + ", std::map<S" + n +
              ", int>> m; m[{x}][{x}] = x; return m.begin()->second.begin()->second; }\n";
  }
  return source;
}

/// Two threads that occupy both cores during other builds while the submission is checked.
std::string starver() {
  return "#include <stdint.h>\n#include <pthread.h>\n#include <time.h>\n"
         "static volatile int on;\n"
         "static void* spin(void*) { while (on) {} return nullptr; }\n"
         "extern \"C\" void nbody(const float*, const float*, float*, int64_t) {\n"
         "  pthread_t other; on = 1; pthread_create(&other, nullptr, spin, nullptr);\n"
         "  timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);\n"
         "  do clock_gettime(CLOCK_MONOTONIC, &b); while (b.tv_sec - a.tv_sec < 12);\n"
         "  on = 0; pthread_join(other, nullptr);\n}\n";
}

/// What a build took while a submission spun on all cores.
Result<Verdict> build_beside_a_starver(const std::vector<std::string>& off) {
  EvaluatorOptions options = evaluator_options();
  options.measure.defences = *Defences::without(off);
  options.build_seconds = 8;
  options.devices = {{0, 0, {0, 1}}};
  options.builders = 2;
  HONE_ASSIGN(auto machine, Machine::start(std::move(options), {}));
  auto task = std::make_shared<Task>(*machine->task("nbody"));
  task->run_seconds = 20;
  Submission hostile;
  hostile.task = task;
  hostile.language = "c++";
  hostile.source = starver();
  hostile.client = hostile.episode = "hostile";
  std::promise<void> checked;
  std::atomic<bool> told{false};
  const auto tell = [&] {
    if (!told.exchange(true)) checked.set_value();
  };
  auto ended = std::make_shared<std::promise<void>>();
  auto over = ended->get_future();
  HONE_ASSIGN(const std::uint64_t id, machine->evaluator().submit(
                                          std::move(hostile),
                                          [&](Stage stage) {
                                            if (stage == Stage::kChecking) tell();
                                          },
                                          [&tell, ended](Result<Verdict>) {
                                            tell();  // it may end before it is checked
                                            ended->set_value();
                                          }));
  checked.get_future().wait();
  const std::string honest = machine->task("add_relu")->backends.at("cpu").baseline.text;
  Answer theirs = submit(*machine, slow_to_build() + honest, "honest");
  Result<Verdict> verdict = theirs.get();
  machine->evaluator().cancel(id);
  over.wait();
  return verdict;
}

TEST(SideBySide, BuildBesideASubmissionThatSpins_IsNotFailed) {
  if (std::thread::hardware_concurrency() != 2) GTEST_SKIP() << "needs exactly two cores";
  const auto verdict = build_beside_a_starver({});
  EXPECT_EQ(difference(verdict, {{Outcome::kCorrect}}), "");
}

#if defined(HONE_TEST_BUILD)
TEST(SideBySide, BuildBesideASubmissionThatSpins_FailsWithoutTheDefence) {
  if (std::thread::hardware_concurrency() != 2) GTEST_SKIP() << "needs exactly two cores";
  if (geteuid() != 0)
    GTEST_SKIP() << "only root gives submissions a better priority than compilers";
  const auto verdict = build_beside_a_starver({"builder_time"});
  EXPECT_EQ(difference(verdict, {{Outcome::kBuildFailed}}), "");
}
#endif

TEST(SideBySide, NextSubmission_FindsNoTraceOfTheLast) {
  Court& court = Court::without({});
  const Attack notes{"find_a_note", "add_relu", {}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(difference(court.judge(notes, seed), {{Outcome::kCrashed}, "was held"}), "");
  }
}

}  // namespace
}  // namespace hone::test
