// Runs the table of attacks in device code: each is stopped by all defences together, and succeeds without the one
// that stops it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "adversarial/gpu/gpu_attack.hpp"
#include "adversarial/gpu/gpu_court.hpp"
#include "base/files.hpp"
#include "judge_protocol/defences.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

// To succeed, where times count or luck does.
constexpr int kTries = 4;

const std::set<std::string> kDefences = {
    "fresh_inputs",     "poison",        "timed_answers", "single_rounds", "canaries",
    "inputs_unchanged", "hidden_shapes", "families",      "witness",       "own_heap",
    "own_round",        "scrub",         "known_answer",  "mixed_families"};

using List = std::vector<std::string>;

List joined(const List& a, const List& b) {
  List all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// In an order in which an evaluator is used for all that need the same.
std::vector<GpuAttack> those_that(bool (*wanted)(const GpuAttack&), List (*off)(const GpuAttack&)) {
  std::vector<GpuAttack> chosen;
  std::copy_if(gpu_attacks().begin(), gpu_attacks().end(), std::back_inserter(chosen), wanted);
  std::stable_sort(chosen.begin(), chosen.end(), [&](const GpuAttack& a, const GpuAttack& b) {
    return std::pair(off(a), a.isolation) < std::pair(off(b), b.isolation);
  });
  return chosen;
}

std::string name_of(const testing::TestParamInfo<GpuAttack>& info) { return info.param.name; }

class Attacked : public testing::TestWithParam<GpuAttack> {
 protected:
  void SetUp() override {
    if (GetParam().on == On::kDevice && !on_a_device())
      GTEST_SKIP() << "says something on a device alone";
#if !defined(HONE_TEST_BUILD)
    if (!GetParam().always.empty()) GTEST_SKIP() << "cannot be tried in what is shipped";
#endif
  }

  /// Judges it until it comes out as expected, each time as another client's.
  void expect(const List& off, const std::string& isolation, const Expected& expected, int tries) {
    GpuCourt& court = GpuCourt::without(off, isolation);
    std::string last = "not tried";
    for (int i = 0; i < tries && !last.empty(); ++i) {
      const std::string client = GetParam().name + std::to_string(i);
      if (!GetParam().before.empty()) {
        const auto before = court.judge(GetParam().before, client);
        ASSERT_EQ(difference(before, {{Outcome::kCorrect}}), "") << GetParam().before;
      }
      const auto verdict = court.judge(GetParam().name, client);
      last = difference(verdict, expected);
      RecordProperty("verdict", text_of(verdict));
      std::printf("  %s\n", text_of(verdict).substr(0, 300).c_str());
    }
    EXPECT_EQ(last, "");
  }
};

class GpuStopped : public Attacked {
 protected:
  /// After all that, an honest submission is still judged right.
  static void TearDownTestSuite() {
    const auto honest = GpuCourt::without({}, "client").judge("honest", "somebody else");
    EXPECT_EQ(difference(honest, {{Outcome::kCorrect}}), "");
  }
};
TEST_P(GpuStopped, EveryDefenceOn_AttackIsStopped) {
  // Only what a busy machine may spoil is tried again: a figure, and being late by milliseconds.
  const bool timed =
      GetParam().stopped.outcomes.front() == Outcome::kCorrect || !GetParam().always.empty();
  expect(GetParam().always, GetParam().isolation, GetParam().stopped, timed ? kTries : 1);
}
bool needs_quiet_cores(const GpuAttack& attack) {
  return !attack.always.empty() || needs_quiet_cores(attack.stopped);
}
INSTANTIATE_TEST_SUITE_P(
    Gpu, GpuStopped,
    testing::ValuesIn(those_that([](const GpuAttack& a) { return needs_quiet_cores(a); },
                                 [](const GpuAttack& a) { return a.always; })),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Untimed, GpuStopped,
    testing::ValuesIn(those_that([](const GpuAttack& a) { return !needs_quiet_cores(a); },
                                 [](const GpuAttack& a) { return a.always; })),
    name_of);

#if defined(HONE_TEST_BUILD)
class GpuStoppedByEither : public Attacked {};
TEST_P(GpuStoppedByEither, OneDefenceOff_OtherStopsTheAttack) {
  expect(joined(GetParam().always, GetParam().alone), GetParam().isolation, GetParam().still,
         GetParam().always.empty() ? 1 : kTries);
}
INSTANTIATE_TEST_SUITE_P(
    Gpu, GpuStoppedByEither,
    testing::ValuesIn(those_that([](const GpuAttack& a) { return !a.alone.empty(); },
                                 [](const GpuAttack& a) { return a.alone; })),
    name_of);

class GpuSucceeds : public Attacked {};
TEST_P(GpuSucceeds, DefenceOff_AttackSucceeds) {
  expect(joined(GetParam().always, GetParam().off), "client", GetParam().succeeds, kTries);
}
INSTANTIATE_TEST_SUITE_P(Gpu, GpuSucceeds,
                         testing::ValuesIn(those_that(
                             [](const GpuAttack& a) {
                               return !a.off.empty() || a.isolation != "client";
                             },
                             [](const GpuAttack& a) { return a.off; })),
                         name_of);
#endif

TEST(GpuTable, EveryDefence_HasAnAttackThatSucceedsWithoutIt) {
  std::set<std::string> bitten;
  for (const GpuAttack& attack : gpu_attacks()) bitten.insert(attack.off.begin(), attack.off.end());
  bitten.erase("physics");  // it goes with others: what does nothing is too fast
  for (const GpuAttack& attack : gpu_attacks())
    for (const std::string& always : attack.always) EXPECT_EQ(always, "stream_wait");
  EXPECT_EQ(bitten, kDefences);
}

TEST(GpuTable, EverySubmission_IsInTheTableAndInThePageOnThreats) {
  const auto page = read_file(test::source_dir() / "docs/threats-attacks.md");
  if (!page) GTEST_SKIP() << "not run in the tree";
  std::set<std::string> named, in_folder;
  for (const GpuAttack& attack : gpu_attacks()) {
    named.insert(file_and_delay(attack.name).first);
    if (!attack.before.empty()) named.insert(attack.before);
  }
  for (const auto& file : std::filesystem::directory_iterator(gpu_submissions())) {
    if (file.path().extension() != ".cu") continue;
    const std::string name = file.path().stem();
    in_folder.insert(name);
    EXPECT_NE(page->find("`" + name + "`"), std::string::npos)
        << "docs/threats-attacks.md does not name " << name;
    const auto source = gpu_source(name);
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_EQ(source->rfind("// Tries: ", 0), 0u) << name;
    std::string words = source->substr(0, source->find("\n#"));
    for (auto at = words.find("\n// "); at != std::string::npos; at = words.find("\n// "))
      words.replace(at, 4, " ");
    EXPECT_NE(words.find("Stopped by: "), std::string::npos) << name;
  }
  EXPECT_EQ(named, in_folder);
  EXPECT_GE(gpu_attacks().size(), 20u);
}

TEST(GpuTable, Builds_RevealNothingAboutTheMachine) {
  for (const char* name : {"include_passwd", "include_by_a_macro", "incbin_a_file"}) {
    const auto verdict = GpuCourt::without({}, "client").judge(name, "curious");
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_NE(verdict->outcome, Outcome::kCorrect) << name;
    EXPECT_EQ((verdict->diagnostics + verdict->reason).find("root:"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hone::test
