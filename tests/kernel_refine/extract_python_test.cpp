// Python code in responses of typical forms, and in all recorded traces.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "kernel_refine/extract.hpp"
#include "model/value.hpp"
#include "places.hpp"

namespace hone::kernel_refine {
namespace {

const std::vector<std::string> kPython = {"python"};
constexpr const char* kWrapper =
    "import torch\n\ndef triton_kernel_wrapper(x):\n    return x + 1\n";
constexpr const char* kModel = "class ModelNew(nn.Module):\n    pass\n";

struct Golden {
  const char* name;
  std::string response;
  std::string code;
};

Extracted extract(const std::string& response) {
  return extract_code(response, "ModelNew", kPython);
}

std::vector<Golden> goldens() {
  const std::string wrapper = kWrapper, model = kModel;
  return {
      {"a tag and nothing else", "<triton>\n" + wrapper + "</triton>", wrapper},
      {"prose with a snippet before the tag",
       "The shape is wrong, since\n\n```python\ny = torch.squeeze(x, 1)\n```\n\nremoves nothing. "
       "Fixed:\n\n<triton>\n" +
           wrapper + "</triton>",
       wrapper},
      {"a formula, a list and headings before the tag",
       "## Why\n\n$$\na^b = \\exp(b \\cdot \\log(a))\n$$\n\n1. `tl.pow` is none\n2. **masks**\n\n"
       "<triton>\n" +
           wrapper + "</triton>\n\nThis should be faster.",
       wrapper},
      {"a fence inside the tag", "<triton>\n```python\n" + wrapper + "```\n</triton>", wrapper},
      {"a tag inside the fence", "```python\n<triton>\n" + wrapper + "</triton>\n```", wrapper},
      {"a fence that only the tag closes", "<triton>\n```python\n" + wrapper + "</triton>\nDone.",
       wrapper},
      {"reasoning that has drafts of its own",
       "<think>\n<triton>\ndef triton_kernel_wrapper(): draft\n</triton>\n</think>\n<triton>\n" +
           wrapper + "</triton>",
       wrapper},
      {"reasoning whose opening stood in the prompt",
       "so ```python\n" + model + "```?\n</think>\n\n```python\n" + wrapper + "```", wrapper},
      {"an example of use after the code",
       "```python\n" + model +
           "```\nUse it so:\n```python\nmodel = ModelNew()\nprint(model)\n```\n",
       model},
      {"a reference quoted before, an explanation after",
       "```python\nclass Model(nn.Module):\n    pass\n```\n```python\n" + model +
           "```\n```text\nx -> y\n```\n",
       model},
      {"several attempts: the last",
       "```python\n" + model + "# first\n```\n```py\n" + model + "```", model},
      {"a tag of another kind", "<answer>\n" + model + "</answer>", model},
      {"a fence tagged triton", "```triton\n" + wrapper + "```", wrapper},
      {"cut off in the tag", "```python\nx = 1\n```\n<triton>\n" + model + "    def forw",
       model + "    def forw\n"},
      {"cut off in a fence", "First:\n```python\n" + model + "    def forw",
       model + "    def forw\n"},
      {"cut off after a whole one", "```python\n" + model + "```\n```python\n" + model + "    de",
       model},
      {"a fence in a list", "1. so:\n   ```python\n   class ModelNew:\n       pass\n\n   ```",
       "class ModelNew:\n    pass\n"},
      {"a source and nothing else", "\n" + wrapper, wrapper},
      {"a class by assignment", "```python\nclass Fast: pass\nModelNew = Fast\n```",
       "class Fast: pass\nModelNew = Fast\n"},
      {"carriage returns", "<triton>\r\nclass ModelNew:\r\n    pass\r\n</triton>\r\n",
       "class ModelNew:\n    pass\n"},
      {"a block without the entry is better than none", "```python\nx = 1\n```", "x = 1\n"},
  };
}

TEST(ExtractPython, GoldenResponses_GiveTheirCode) {
  for (const Golden& golden : goldens()) {
    const Extracted found = extract(golden.response);
    EXPECT_TRUE(found.found) << golden.name << ": " << found.reason;
    EXPECT_EQ(found.code, golden.code) << golden.name;
    EXPECT_TRUE(found.language.empty() || found.language == "python") << golden.name;
  }
}

TEST(ExtractPython, Nothing_IsTakenFromProse) {
  const std::string head =
      "expected a fenced block tagged python, or without a tag, with the class 'ModelNew' or the "
      "function 'triton_kernel_wrapper'; found ";
  EXPECT_EQ(extract("I would write class ModelNew with one kernel.").reason, head + "none");
  EXPECT_EQ(extract("from here on:\nclass Model: pass\n").reason, head + "none");
  EXPECT_EQ(extract("Sure!\nimport torch\nclass ModelNew: pass\n").reason, head + "none");
  EXPECT_EQ(extract("<think>\n<triton>\n" + std::string(kWrapper) + "</triton>").reason,
            head + "none");
  EXPECT_EQ(extract("```cpp\nint ModelNew;\n```").reason, head + "1 block: cpp");
  EXPECT_EQ(extract("<triton>\n\n</triton>").reason, head + "1 block: an empty block");
}

TEST(ExtractPython, NameWithTheEntrysPrefix_IsNotTheEntry) {
  EXPECT_EQ(
      extract("```python\nclass ModelNew: pass\n```\n```python\nclass ModelNewer: pass\n```").code,
      "class ModelNew: pass\n");
  EXPECT_EQ(extract("```python\nclass ModelNew: pass\n```\n```python\nModelNew == 3\n```").code,
            "class ModelNew: pass\n")
      << "a comparison defines nothing";
}

/// Without what a source may begin and end with.
std::string stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

TEST(ExtractPython, EveryTurnOfTheRealTraces_GivesWhatItsPipelineFound) {
  const std::filesystem::path file =
      test::source_dir().parent_path() / "shared/data/traces/reasoning_traces_qwen3_multiturn.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const auto text = read_file(file.string(), 64u << 20);
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto traces = from_json(*text);
  ASSERT_TRUE(traces.ok()) << traces.error().message;
  int turns = 0;
  for (const Value& trace : traces->as_array()) {
    for (const Value& turn : trace.find("turns")->as_array()) {
      const Extracted found = extract(turn.find("full_completion")->as_string());
      EXPECT_EQ(stripped(found.code), stripped(turn.find("triton_code")->as_string()));
      ++turns;
    }
  }
  EXPECT_EQ(turns, 31);
}

}  // namespace
}  // namespace hone::kernel_refine
