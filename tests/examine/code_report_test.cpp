// Hostile text in a compiler's report: inline assembler can put any line into it.
#include "examine/code_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Lines 0, 1, 2, … up to the limit of the text.
std::string text_of(const std::string& start, const std::function<std::string(std::size_t)>& line,
                    std::size_t bytes_max = kCodeTextMax) {
  std::string text = start;
  for (std::size_t i = 0;; ++i) {
    const std::string next = line(i);
    if (text.size() + next.size() > bytes_max) return text;
    text += next;
  }
}

CodeListing listing_of(const std::string& text) {
  return code_blocks(text, "submission.cpp", CodeReport::kBlocksMax, 1000);
}

TEST(HostileCode, ManyFileNumbers_AreLookedUpInBoundedTimeAndNamed) {
  std::string text = text_of(
      "", [](std::size_t i) { return ".file " + std::to_string(i) + " \"submission.cpp\"\n"; },
      kCodeTextMax / 2);
  text = text_of(text + "f:\n", [](std::size_t) { return "\t.loc 0 7\n"; });
  const CodeListing listing = listing_of(text + "\tret\n");
  EXPECT_LE(listing.work, 2 * 200'000u);  // two steps a line
  EXPECT_THAT(listing.left_out,
              testing::Contains("line numbers: the source has more than 64 file numbers"));
}

TEST(HostileCode, ManyFunctions_AreCutAndNamed) {
  const CodeListing listing =
      listing_of(text_of("", [](std::size_t i) { return "f" + std::to_string(i) + ":\n\tret\n"; }));
  EXPECT_LE(listing.work, kCodeWorkMax);
  EXPECT_EQ(listing.blocks.size(), CodeReport::kBlocksMax);
  EXPECT_THAT(listing.left_out, ElementsAre("code after the first 20000 functions"));
}

TEST(HostileCode, LoopsThatOverlap_AreScannedUpToTheLimitAndNamed) {
  // Label i stands before label i+1, and so do their jumps, so no loop contains another one: all are innermost.
  constexpr std::size_t kLoops = 50'000;
  std::string text = "f:\n";
  for (std::size_t i = 0; i < kLoops; ++i) text += ".L" + std::to_string(i) + ":\n\tnop\n";
  for (std::size_t i = 0; i < kLoops; ++i) text += "\tjmp .L" + std::to_string(i) + "\n";
  ASSERT_LE(text.size(), kCodeTextMax);
  const CodeListing listing = listing_of(text);
  EXPECT_LE(listing.work, kCodeWorkMax);
  EXPECT_THAT(listing.left_out, ElementsAre("loops: they overlap too often"));
  EXPECT_FALSE(listing.blocks.empty());
}

TEST(HostileCode, EmptyLines_AreReadUpToTheLimit) {
  const CodeListing listing = listing_of(std::string(kCodeTextMax, '\n'));
  EXPECT_LE(listing.work, kCodeWorkMax);
}

TEST(HostileCode, TextBehindTheLimit_IsNotReadAndNamed) {
  const CodeListing listing =
      listing_of("f:\n\tret\n" + std::string(kCodeTextMax, 'x') + "\ng:\n\tret\n");
  ASSERT_EQ(listing.blocks.size(), 1u);
  EXPECT_EQ(listing.blocks[0].function, "f");
  EXPECT_THAT(listing.left_out, ElementsAre("lines of code: the compiler's text is too long"));
}

TEST(HostileCode, CrossingAndNestedLoops_HaveTheDepthOfTheirNest) {
  const CodeListing listing = listing_of(
      "f:\n.L1:\n\tnop\n.L2:\n\tnop\n.L3:\n\tnop\n\tjne .L3\n.L4:\n\tnop\n\tjne .L4\n\tjne .L2\n"
      "\tjne .L1\n\tret\n");
  ASSERT_EQ(listing.blocks.size(), 2u);
  EXPECT_EQ(listing.blocks[0].depth, 2);
  EXPECT_EQ(listing.blocks[1].depth, 2);
  EXPECT_THAT(listing.left_out, IsEmpty());
}

TEST(HostileCode, ControlCharacters_DoNotReachTheText) {
  const CodeListing listing = listing_of("f:\n\tnop \x1b[2J\x07\n\tret\n");
  ASSERT_EQ(listing.blocks.size(), 1u);
  EXPECT_EQ(listing.blocks[0].text.find('\x1b'), std::string::npos);
  EXPECT_THAT(listing.blocks[0].text, HasSubstr("nop"));
}

TEST(HostileCode, MessagesBehindTheLimit_AreNotReadAndNamed) {
  const CodeReport report = read_code_report(
      "", std::string(kCodeTextMax, '\n') + "s.cpp:4:1: missed: couldn't vectorize loop\n",
      "s.cpp");
  EXPECT_THAT(report.loops, IsEmpty());
  EXPECT_THAT(report.left_out, ElementsAre("messages of the compiler: they are too long"));
}

}  // namespace
}  // namespace hone
