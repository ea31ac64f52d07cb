// Risks that an isolation level does not prevent: which apply to a machine, and that docs/threats.md lists them.
#include "sandbox/gaps.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "places.hpp"

namespace hone {
namespace {

Capabilities best() {
  Capabilities c;
  c.root = c.slot_users = c.cgroup_freeze = c.cgroup_memory = c.ptrace = true;
  c.landlock_abi = 7;
  return c;
}

bool has(const std::vector<Gap>& gaps, std::string_view words) {
  for (const Gap& gap : gaps) {
    if (gap.text.find(words) != std::string_view::npos) return true;
  }
  return false;
}

TEST(Gaps, Level_HasTheGapsOfHigherLevels) {
  const std::size_t at_private = open_gaps(IsolationLevel::kPrivate, best()).size();
  const std::size_t at_separated = open_gaps(IsolationLevel::kSeparated, best()).size();
  const std::size_t at_filtered = open_gaps(IsolationLevel::kFiltered, best()).size();
  EXPECT_EQ(at_private, 2u);
  EXPECT_GT(at_separated, at_private);
  EXPECT_GT(at_filtered, at_separated);
  EXPECT_TRUE(has(open_gaps(IsolationLevel::kNone, {}), "everything else"));
}

TEST(Gaps, CapabilitiesOfTheMachine_DecideThem) {
  Capabilities c = best();
  EXPECT_FALSE(has(open_gaps(IsolationLevel::kSeparated, c), "hone's user"));
  c.slot_users = false;  // an ordinary user: the user namespace's is, outside of it, hone's own
  EXPECT_TRUE(has(open_gaps(IsolationLevel::kSeparated, c), "hone's user"));
  EXPECT_FALSE(has(open_gaps(IsolationLevel::kSeparated, c), "ABI 6"));
  c.landlock_abi = 5;
  EXPECT_TRUE(has(open_gaps(IsolationLevel::kSeparated, c), "ABI 6"));
  EXPECT_FALSE(has(open_gaps(IsolationLevel::kPrivate, c), "frozen one after another"));
  c.cgroup_freeze = c.cgroup_memory = false;
  EXPECT_TRUE(has(open_gaps(IsolationLevel::kPrivate, c), "frozen one after another"));
  EXPECT_TRUE(has(open_gaps(IsolationLevel::kPrivate, c), "exceed its memory limit"));
}

TEST(Gaps, ThreatsPage_ListsEachGapWithItsLevel) {
  const auto page = read_file(test::source_dir() / "docs/threats.md");
  ASSERT_TRUE(page) << page.error().message;
  for (const Gap& gap : all_gaps()) {
    std::string row =
        "| " + std::string(gap.text) + " | `" + std::string(isolation_name(gap.highest)) + "`";
    EXPECT_NE(page->find(row), std::string::npos) << "no row starts with: " << row;
    const auto at = page->find(std::string(gap.text));
    const std::string line = page->substr(at, page->find('\n', at) - at);
    EXPECT_NE(line.find(gap.shown_by), std::string::npos) << gap.shown_by << " is not in: " << line;
  }
}

}  // namespace
}  // namespace hone
