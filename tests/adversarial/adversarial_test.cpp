// Runs the table of attacks: each is stopped by all defences together, and succeeds without the one that stops it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "adversarial/attack.hpp"
#include "adversarial/court.hpp"
#include "adversarial/submissions/inside.hpp"
#include "base/files.hpp"
#include "channel/control.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

// What the attacks know of the judge's pages.
static_assert(offsetof(inside::Orders, order) == offsetof(Orders, order));
static_assert(offsetof(inside::Orders, wake) == offsetof(Orders, wake));
static_assert(offsetof(inside::Orders, values) == offsetof(Orders, values));
static_assert(sizeof inside::Orders::values == sizeof Orders::values);
static_assert(offsetof(inside::Answers, message) == offsetof(Answers, message));
static_assert(offsetof(inside::Answers, chosen_count) == offsetof(Answers, chosen_count));
static_assert(sizeof(inside::Answers) == sizeof(Answers));
static_assert(kChannelVersion == 8, "forge_a_report has this number");

constexpr std::uint64_t kSeed = 20;
constexpr std::uint64_t kTries =
    4;  // to be stopped, on a machine whose cores may be busy with something else

const std::vector<std::string> kDefences = {
    "freeze",        "freeze_between", "fresh_inputs",  "poison",        "shuffle",
    "timed_answers", "single_rounds",  "canaries",      "guards",        "inputs_unchanged",
    "hidden_shapes", "families",       "seccomp",       "landlock",      "memory_limit",
    "physics",       "second_look",    "proven_faults", "thread_memory", "mixed_families",
    "fixed_pairs",   "own_waits"};

/// Attacks that run alone although their expected outcomes need no clock: those on the judge's other processes while it
/// measures, and one that must use up the builder's processor time before the limit of elapsed time.
const std::set<std::string> kRacing = {"slow_the_baseline", "stop_itself", "hide_a_thread",
                                       "compile_without_end"};

/// A test of each attack with such an expectation: `quiet` ones run alone, the others next to other tests.
std::vector<Attack> all_that(bool quiet, const Expected Attack::*expected) {
  std::vector<Attack> chosen;
  std::copy_if(attacks().begin(), attacks().end(), std::back_inserter(chosen),
               [&](const Attack& attack) {
                 const bool needs = needs_quiet_cores(attack.*expected);
                 return (needs || kRacing.count(attack.name) != 0) == quiet;
               });
  return chosen;
}

/// Those that need defences off, sorted so that a machine is used for all that need the same.
std::vector<Attack> those_that(const std::vector<std::string> Attack::*list,
                               std::vector<Attack> from = attacks()) {
  std::erase_if(from, [&](const Attack& attack) { return (attack.*list).empty(); });
  std::stable_sort(from.begin(), from.end(),
                   [&](const Attack& a, const Attack& b) { return a.*list < b.*list; });
  return from;
}

std::string name_of(const testing::TestParamInfo<Attack>& info) { return info.param.name; }

class Stopped : public testing::TestWithParam<Attack> {
 protected:
  /// After all that, the machine still judges an honest submission right.
  static void TearDownTestSuite() {
    EXPECT_EQ(difference(Court::without({}).judge_honest(), {{Outcome::kCorrect}}), "");
  }
};
TEST_P(Stopped, EveryDefenceOn_AttackIsStopped) {
  // A gain would come every time; a figure that the machine's other work has spoilt does not.
  std::string last = "not tried";
  for (std::uint64_t i = 0; i < kTries && !last.empty(); ++i) {
    const auto verdict = Court::without({}).judge(GetParam(), kSeed + i);
    last = difference(verdict, GetParam().stopped);
    RecordProperty("verdict", text_of(verdict));
    EXPECT_TRUE(!verdict || verdict->configurations.empty()) << "native code has no configurations";
    const auto& allowed = GetParam().stopped.outcomes;
    const bool a_figure =
        verdict && verdict->correct() &&
        std::find(allowed.begin(), allowed.end(), Outcome::kCorrect) != allowed.end();
    if (!a_figure) break;
  }
  EXPECT_EQ(last, "");
}
INSTANTIATE_TEST_SUITE_P(Adversarial, Stopped, testing::ValuesIn(all_that(true, &Attack::stopped)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Untimed, Stopped, testing::ValuesIn(all_that(false, &Attack::stopped)),
                         name_of);

#if defined(HONE_TEST_BUILD)
class StoppedByEither : public testing::TestWithParam<Attack> {};
TEST_P(StoppedByEither, OneDefenceOff_OtherStopsTheAttack) {
  const auto verdict = Court::without(GetParam().alone).judge(GetParam(), kSeed);
  EXPECT_EQ(difference(verdict, {{Outcome::kWrong, Outcome::kCrashed}, ""}), "");
}
INSTANTIATE_TEST_SUITE_P(Adversarial, StoppedByEither,
                         testing::ValuesIn(those_that(&Attack::alone)), name_of);

class Succeeds : public testing::TestWithParam<Attack> {};
TEST_P(Succeeds, DefenceOff_AttackSucceeds) {
  // For the same reason, and it takes luck, too: one in three, or in twenty where two strangers keep
  // each core busy.
  constexpr std::uint64_t kTriesToSucceed = 100;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  std::string last = "not tried";
  for (std::uint64_t i = 0; i < kTriesToSucceed && !last.empty(); ++i) {
    if (i >= 16 && std::chrono::steady_clock::now() > until) break;
    const auto verdict = Court::without(GetParam().off).judge(GetParam(), kSeed + i);
    last = difference(verdict, GetParam().succeeds);
    RecordProperty("verdict", text_of(verdict));
  }
  EXPECT_EQ(last, "");
}
INSTANTIATE_TEST_SUITE_P(Adversarial, Succeeds,
                         testing::ValuesIn(those_that(&Attack::off,
                                                      all_that(true, &Attack::succeeds))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Untimed, Succeeds,
                         testing::ValuesIn(those_that(&Attack::off,
                                                      all_that(false, &Attack::succeeds))),
                         name_of);
#endif

TEST(AdversarialTable, EveryDefence_HasAnAttackThatSucceedsWithoutIt) {
  std::set<std::string> bitten;
  for (const Attack& attack : attacks()) bitten.insert(attack.off.begin(), attack.off.end());
  EXPECT_EQ(bitten, std::set<std::string>(kDefences.begin(), kDefences.end()));
#if defined(HONE_TEST_BUILD)
  // And this is all of them.
  const auto all = Defences::without(kDefences);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->off(), kDefences);
  for (unsigned i = 0; i < kDefences.size(); ++i) EXPECT_FALSE(all->holds(static_cast<Defence>(i)));
  EXPECT_EQ(static_cast<unsigned>(Defence::kOwnWaits) + 1, kDefences.size());
#endif
}

TEST(AdversarialTable, EverySubmission_IsInTheTableAndInThePageOnThreats) {
  const std::filesystem::path root = test::source_dir();
  const auto page = read_file(root / "docs/threats-attacks.md");
  ASSERT_TRUE(page) << page.error().message;
  std::set<std::string> in_table, in_folder;
  for (const Attack& attack : attacks())
    EXPECT_TRUE(in_table.insert(attack.name).second) << attack.name;
  for (const auto& file :
       std::filesystem::directory_iterator(root / "tests/adversarial/submissions")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string name = file.path().stem();
    in_folder.insert(name);
    EXPECT_NE(page->find("`" + name + "`"), std::string::npos)
        << "docs/threats-attacks.md does not name " << name;
    const std::string source = source_of(name);
    std::string words =
        source.substr(0, source.find("\n#"));  // the comment, however it is broken into lines
    for (auto at = words.find("\n// "); at != std::string::npos; at = words.find("\n// ")) {
      words.replace(at, 4, " ");
    }
    EXPECT_EQ(source.rfind("// Tries: ", 0), 0u) << name;
    EXPECT_NE(words.find("Stopped by: "), std::string::npos)
        << name << " does not say what stops it";
  }
  EXPECT_EQ(in_table, in_folder);
}

/// Every test's name as "Suite.Test", from the sources.
std::set<std::string> names_of_tests() {
  std::set<std::string> names;
  const std::regex definition(R"(\nTEST(?:_P|_F)?\((\w+),\s*(\w+)\))");
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(test::source_dir() / "tests")) {
    if (file.path().extension() != ".cpp") continue;
    const auto text = read_file(file.path());
    if (!text) continue;
    for (std::sregex_iterator match(text->begin(), text->end(), definition), end; match != end;
         ++match) {
      names.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  }
  return names;
}

/// Numbers of the rows of one list are 1, 2, …; each row names attacks and tests that there are, or
/// says why it does not apply.
void expect_a_true_list(const std::string& page, const std::string& heading, int rows) {
  std::set<std::string> known = names_of_tests();
  for (const Attack& attack : attacks()) known.insert(attack.name);
  const std::size_t from = page.find("\n## " + heading + "\n");
  ASSERT_NE(from, std::string::npos) << heading;
  std::istringstream lines(page.substr(from + 1, page.find("\n## ", from + 1) - from));
  std::string line;
  std::getline(lines, line);
  int number = 0;
  while (std::getline(lines, line) && line.rfind("## ", 0) != 0) {
    if (line.rfind("| " + std::to_string(number + 1) + " | ", 0) != 0) continue;
    ++number;
    const std::string covered = line.substr(line.find(" | ", line.find(" | ") + 1));
    int names = 0;
    const std::regex in_ticks("`([A-Za-z_.]+)`");
    for (std::sregex_iterator match(covered.begin(), covered.end(), in_ticks), end; match != end;
         ++match, ++names) {
      EXPECT_EQ(known.count((*match)[1].str()), 1u) << "no test or attack is called " << line;
    }
    if (names == 0) {
      EXPECT_NE(covered.find("does not apply: "), std::string::npos) << line;
    }
  }
  EXPECT_EQ(number, rows) << heading;
}

TEST(AdversarialTable, EveryKnownClassAndCase_IsCoveredOrDoesNotApply) {
  const auto page = read_file(test::source_dir() / "docs/threats-classes.md");
  ASSERT_TRUE(page) << page.error().message;
  expect_a_true_list(*page, "Classes of reward hacks", 30);
  expect_a_true_list(*page, "Cases for a sandbox and a service", 56);
}

TEST(AdversarialTable, TableOfLevels_HasEveryAttack) {
  // tests/adversarial/levels prints it; an attack that is added has to be run everywhere, too.
  const auto page = read_file(test::source_dir() / "docs/threats.md");
  ASSERT_TRUE(page) << page.error().message;
  const std::string all = std::to_string(attacks().size());
  const std::regex row(R"(\n\| (root|somebody) \| `\w+` \| \w+ \| (\d+) of (\d+) \| (.*) \|)");
  int rows = 0;
  for (std::sregex_iterator match(page->begin(), page->end(), row), end; match != end; ++match) {
    ++rows;
    EXPECT_EQ((*match)[2].str(), all) << match->str();
    EXPECT_EQ((*match)[3].str(), all) << match->str();
  }
  EXPECT_GE(rows, 5);
}

TEST(AdversarialTable, Builds_RevealNothingAboutTheMachine) {
  for (const char* name : {"include_passwd", "incbin_a_file", "include_the_reference"}) {
    const Attack attack{name, "add_relu", {}};
    const auto verdict = Court::without({}).judge(attack, kSeed);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->diagnostics.find("root:"), std::string::npos) << verdict->diagnostics;
    EXPECT_EQ(verdict->diagnostics.find("PATH="), std::string::npos) << verdict->diagnostics;
  }
}

}  // namespace
}  // namespace hone::test
