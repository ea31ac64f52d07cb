// Shortening of compiler output, without broken characters.
#include "kernel_refine/compiler_words.hpp"

#include <gtest/gtest.h>

namespace hone::kernel_refine {
namespace {

const std::string kOutput =
    "a.cpp: In function 'void f()':\n"
    "a.cpp:2:3: warning: unused variable 'w' [-Wunused]\n"
    "    2 | int w;\n"
    "a.cpp:3:5: error: 'first' was not declared\n"
    "    3 |     first;\n"
    "      |     ^~~~~\n"
    "a.cpp:3:5: note: suggested alternative: 'fist'\n"
    "a.cpp:4:5: error: 'second' was not declared\n";

TEST(CompilerWords, Errors_ComeFirstAndInOrder) {
  const std::string kept = trim_compiler_words(kOutput, 1000);
  EXPECT_LT(kept.find("first"), kept.find("second"));
  EXPECT_LT(kept.find("second"), kept.find("warning"));
  EXPECT_LT(kept.find("warning"), kept.find("note"));
  EXPECT_NE(kept.find("    3 |     first;\n"), std::string::npos);
}

TEST(CompilerWords, NotesAndWarnings_AreDroppedBeforeErrors) {
  const std::string kept = trim_compiler_words(kOutput, 200);
  EXPECT_LE(kept.size(), 200u);
  EXPECT_NE(kept.find("'first'"), std::string::npos);
  EXPECT_NE(kept.find("'second'"), std::string::npos);
  EXPECT_EQ(kept.find("note: "), std::string::npos);
  EXPECT_NE(kept.find("(left out: 0 errors, 2 warnings and notes)"), std::string::npos) << kept;
}

TEST(CompilerWords, RepeatedError_IsKeptOnce) {
  const std::string line = "a.cpp:1:1: error: no\n";
  EXPECT_EQ(trim_compiler_words(line + line + line, 500), line);
}

TEST(CompilerWords, LongLines_LoseTheirMiddle) {
  const std::string kept = trim_compiler_words(
      "a.cpp:1:1: error: head" + std::string(5000, 'x') + "tail\nb: error: next\n", 800);
  EXPECT_NE(kept.find("error: head"), std::string::npos);
  EXPECT_NE(kept.find("tail"), std::string::npos);
  EXPECT_NE(kept.find("error: next"), std::string::npos);
}

TEST(CompilerWords, AnyOutput_StaysWithinTheLimit) {
  for (std::size_t most = 64; most < 600; ++most) {
    EXPECT_LE(trim_compiler_words(kOutput + kOutput, most).size(), most);
  }
}

TEST(CompilerWords, Truncation_KeepsCharactersWhole) {
  const std::string text = "aé∀😀bé∀😀cé∀😀dé∀😀";
  for (std::size_t most = 0; most <= text.size(); ++most) {
    for (const std::string& cut : {cut_middle(text, most), cut_end(text, most)}) {
      EXPECT_LE(cut.size(), most);
      EXPECT_EQ(find_invalid_utf8(cut), std::string::npos) << most;
    }
  }
}

TEST(CompilerWords, InvalidUtf8_IsFound) {
  EXPECT_EQ(find_invalid_utf8("plain é ∀ 😀"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(find_invalid_utf8("ab\xc3"), 2u);            // cut off
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u);  // beyond Unicode
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace hone::kernel_refine
