// Extraction of code from a response; no input crashes it.
#include "kernel_refine/extract.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "kernel_refine/answer/reasoning.hpp"

namespace hone::kernel_refine {
namespace {

const std::vector<std::string> kCpp = {"c++"};
const std::vector<std::string> kBoth = {"c++", "c"};

std::string code_of(const std::string& response,
                    const std::vector<std::string>& languages = kBoth) {
  const Extracted extracted = extract_code(response, "f", languages);
  EXPECT_TRUE(extracted.found) << extracted.reason;
  return extracted.code;
}

TEST(Extract, SeveralFences_LastOneWithTheEntryIsTaken) {
  EXPECT_EQ(
      code_of(
          "```cpp\nvoid f(int);\n```\ntext\n```cpp\nvoid f(){}\n```\nand\n```cpp\nint g;\n```\n"),
      "void f(){}\n");
}

TEST(Extract, NoFenceWithTheEntry_LastTaggedFenceIsTaken) {
  EXPECT_EQ(code_of("```cpp\nint a;\n```\n```cpp\nint b;\n```"), "int b;\n");
  EXPECT_EQ(code_of("```cpp\nint a;\n```\n```\nint b;\n```"), "int a;\n") << "a tag says more";
}

TEST(Extract, FenceOfAnotherLanguage_IsSkipped) {
  EXPECT_EQ(code_of("```cpp\nvoid f(){}\n```\n```python\nf()\n```"), "void f(){}\n");
  EXPECT_EQ(code_of("```c\nvoid f(void){}\n```\n```c++\nint x;\n```", {"c"}), "void f(void){}\n");
}

TEST(Extract, Tag_GivesTheLanguage) {
  EXPECT_EQ(extract_code("```C\nf\n```", "f", kBoth).language, "c");
  EXPECT_EQ(extract_code("```cxx title=a\nf\n```", "f", kBoth).language, "c++");
  EXPECT_EQ(extract_code("``` {.cpp}\nf\n```", "f", kBoth).language, "c++");
  EXPECT_EQ(extract_code("```\nf\n```", "f", kBoth).language, "");
}

TEST(Extract, TildesAndLongFences_AreFences) {
  EXPECT_EQ(code_of("~~~cpp\nf\n```\nx\n~~~"), "f\n```\nx\n");
  EXPECT_EQ(code_of("````cpp\n// ```\nf\n```\n````"), "// ```\nf\n```\n");
  EXPECT_EQ(code_of("```cpp\n// ```not a close\nf\n`````"), "// ```not a close\nf\n");
  EXPECT_EQ(code_of("see ```f``` inline\n```cpp\nf()\n```"), "f()\n");
}

TEST(Extract, CarriageReturns_AreDropped) {
  EXPECT_EQ(code_of("a\r\n```cpp\r\nvoid f();\r\nint b;\r\n```\r\n"), "void f();\nint b;\n");
}

TEST(Extract, IndentedFence_IsAFence) {
  EXPECT_EQ(code_of("1. so:\n   ```cpp\n   f\n   ```"), "f\n");
}

TEST(Extract, UnterminatedFence_IsUsed) {
  EXPECT_EQ(code_of("```cpp\nvoid f() {"), "void f() {\n");
  EXPECT_EQ(code_of("```cpp\nint whole;\n```\n```cpp\nvoid f() {"), "void f() {\n")
      << "it defines the entry";
}

TEST(Extract, CodeBetweenTags_IsTaken) {
  for (const std::string tag : {"triton", "kernel", "code", "answer", "Answer"}) {
    EXPECT_EQ(code_of("<" + tag + ">\nvoid f();\n</" + tag + ">"), "void f();\n") << tag;
  }
  EXPECT_EQ(code_of("<answer>so:\n```cpp\nvoid f(){}\n```\n</answer>"), "void f(){}\n");
  EXPECT_EQ(code_of("<code>void f() {"), "void f() {\n");
  EXPECT_EQ(code_of("```cpp\nvoid f() { g<code>(); }\n```"), "void f() { g<code>(); }\n");
  EXPECT_EQ(code_of("```cpp\nvoid f(); // draft\n```\n<answer>void f() {}</answer>"),
            "void f() {}\n");
}

TEST(Extract, CodeBetweenTagsWithinABlock_IsTakenOnce) {
  const std::string answer =
      "<answer><code>\xff\xff\x7fu(const f*\"" + std::string(7, '\0') + "n) {}\n</code>){</answer>";
  const Extracted found = extract_code(answer, "add_relu", {"c++", "c"});
  ASSERT_TRUE(found.found) << found.reason;
  EXPECT_EQ(found.code.find("const f*"), found.code.rfind("const f*")) << found.code;
}

TEST(Extract, Reasoning_IsRemoved) {
  EXPECT_EQ(answer_of("a<think>b</think>c"), "ac");
  EXPECT_EQ(answer_of("a<think>b"), "a");
  EXPECT_EQ(answer_of("b</think>c"), "c");
  EXPECT_EQ(answer_of("a<think>b<think>c</think>d</think>e"), "e");
  EXPECT_EQ(answer_of("plain"), "plain");
  EXPECT_FALSE(extract_code("<think>```cpp\nf\n```</think>none", "f", kCpp).found);
  EXPECT_FALSE(extract_code("<think>```cpp\nf\n```", "f", kCpp).found);
}

TEST(Extract, NoCode_ReasonHasExpectedAndFound) {
  EXPECT_EQ(extract_code("no code here", "add_relu", kBoth).reason,
            "expected a fenced block tagged c++ or c, or without a tag, with the function "
            "'add_relu'; found none");
  EXPECT_EQ(extract_code("```python\nx\n```\n```\n \n```", "f", kCpp).reason,
            "expected a fenced block tagged c++, or without a tag, with the function 'f'; found 2 "
            "blocks: python, an "
            "empty block");
}

TEST(Extract, AnyBytes_AreAccepted) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  static const std::vector<std::string> kParts = {
      "```",      "````",      "~~~",      "\n", "\r\n", "cpp", "<think>",
      "</think>", "<code>",    "</code>",  "<",  "f",    " ",   std::string(1, '\0'),
      "\xff",     "</answer>", "<answer>", "`"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = random() % 24; i > 0; --i) {
      text += random() % 8 == 0 ? std::string(1, static_cast<char>(random()))
                                : kParts[random() % kParts.size()];
    }
    const Extracted extracted = extract_code(text, "f", kBoth);
    EXPECT_EQ(extracted.found, extracted.reason.empty()) << text;
    const Extracted python = extract_code(text, "f", {"python"});
    EXPECT_EQ(python.found, python.reason.empty()) << text;
    EXPECT_LE(extracted.code.size(), text.size() + 1);
  }
}

TEST(Extract, LongRunsOfMarks_TakeBoundedTime) {
  constexpr std::size_t kRun = 1 << 15;
  const std::string text = std::string(kRun + 10, '`') + "\n" + std::string(kRun - 10, '`');
  EXPECT_LE(extract_code(text, "f", kBoth).code.size(), text.size());
  std::string calls = "```cpp\n";
  while (calls.size() < kRun) calls += "f(a)\n";
  EXPECT_TRUE(extract_code(calls + "```\n", "f", kBoth).found);
}

// An answer may be long and hold nothing but marks: reading it must not take a square of its length.
TEST(Extract, AnswersFullOfMarks_TakeBoundedTime) {
  constexpr std::size_t kBytes = 1 << 15;
  for (const std::string part : {"```",
                                 "```\n",
                                 "```cpp\n",
                                 "```cpp\n/*\n```\n",
                                 "`",
                                 "` ",
                                 "~~~\n",
                                 "'''cpp\n",
                                 "> ```\n",
                                 ">",
                                 "<code>",
                                 "</code>",
                                 "<code",
                                 "[code]",
                                 "\\begin{code}",
                                 "\\begin{code}[",
                                 "<parameter=",
                                 "{\"",
                                 "[",
                                 "<<EOF\n",
                                 "```sh\n<<EOF\n",
                                 "```diff\n@@\n",
                                 "```json\n[\n",
                                 "```\n{\n```\n",
                                 "<think>",
                                 "</think>",
                                 "</think> a ",
                                 "<|im_end|>",
                                 "`<|im_end|>`",
                                 "f(",
                                 "f(){",
                                 "f(){}\n",
                                 "f() f",
                                 "{",
                                 "}",
                                 "(",
                                 "\"",
                                 "'",
                                 "/*",
                                 "//\\\n",
                                 "R\"(",
                                 "\"\"\"",
                                 "# a\n",
                                 "import f\n\n",
                                 "#include <x>\n\n",
                                 "extern f:\n\n",
                                 "class f",
                                 "f(a)\n",
                                 "a b(c)",
                                 "f()",
                                 "class f: pass\ndef g(",
                                 "def f(\n",
                                 " ",
                                 "\n",
                                 "a\n\n",
                                 "```cpp\nvoid g(){}\n```\n",
                                 "```cpp\n#include \"a.h\"\n```\n",
                                 "```py\ndef g(): f\n```\n"}) {
    std::string text;
    while (text.size() < kBytes) text += part;
    for (const std::vector<std::string>& languages : {kBoth, {"python"}}) {
      EXPECT_LE(extract_code(text, "f", languages).code.size(), text.size() + 64) << part;
    }
  }
}

// Once quadratic: each lone close searched the whole rest for an opening, each tag all fences.
TEST(Extract, ManyMarks_TakeBoundedTime) {
  std::string closes, tags, fences;
  for (int i = 0; i < 60000; ++i) {
    closes += "</think>";
    tags += "<code></code>";
    fences += "```\n```\n<code>";
  }
  EXPECT_FALSE(extract_code(closes, "f", kCpp).found);
  EXPECT_FALSE(extract_code(tags, "f", kCpp).found);
  EXPECT_TRUE(extract_code(fences + "f</code>", "f", kCpp).found);
}

}  // namespace
}  // namespace hone::kernel_refine
