// Answers of disassemble_images.py, which are not trusted.
#include "evaluate/disassembly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;

TEST(Listings, Answer_HasOneForEachImage) {
  const auto listings = read_listings(
      R"({"problem": "", "listings": [{"bytes": 3, "problem": ""}, {"bytes": 0, "problem": "no ELF"}]})"
      "\nabc",
      2);
  ASSERT_TRUE(listings) << listings.error().message;
  EXPECT_EQ((*listings)[0].text, "abc");
  EXPECT_EQ((*listings)[0].problem, "");
  EXPECT_EQ((*listings)[1].text, "");
  EXPECT_EQ((*listings)[1].problem, "no ELF");
}

TEST(Listings, ProblemOfAll_IsAFailedPrecondition) {
  const auto listings = read_listings("{\"problem\": \"found no \\u001b[2J\"}\n", 1);
  ASSERT_FALSE(listings);
  EXPECT_EQ(listings.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(listings.error().message, "found no ?[2J");
}

TEST(Listings, MalformedAnswers_AreRefused) {
  const auto message_of = [](std::string_view answer) {
    const auto listings = read_listings(answer, 1);
    EXPECT_FALSE(listings) << answer;
    return listings ? "" : listings.error().message;
  };
  EXPECT_THAT(message_of(""), HasSubstr("found no first line"));
  EXPECT_THAT(message_of(std::string(2 << 20, ' ') + "\n"), HasSubstr("found no first line"));
  EXPECT_THAT(message_of("[]\n"), HasSubstr("found no problem"));
  EXPECT_THAT(message_of(R"({"problem": ""})"
                         "\n"),
              HasSubstr("expected 1 listings"));
  EXPECT_THAT(message_of(R"({"problem": "", "listings": [7]})"
                         "\n"),
              HasSubstr("expected bytes and problem"));
  for (const char* bytes : {"4", "-1", "9223372036854775807"}) {
    EXPECT_THAT(message_of(R"({"problem": "", "listings": [{"bytes": )" + std::string(bytes) +
                           R"(, "problem": ""}]})"
                           "\nabc"),
                HasSubstr("found 3 bytes, expected a listing of " + std::string(bytes)));
  }
}

}  // namespace
}  // namespace hone
