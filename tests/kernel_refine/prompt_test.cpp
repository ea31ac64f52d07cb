// Prompts: their forms, the description of the machine, and the choice of a template.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "episode/service_fixture.hpp"

namespace hone::test {
namespace {

class PromptTest : public ::testing::Test {
 protected:
  /// The content of a message of the prompt, or why there is none.
  std::string message(std::size_t at, const Value& options, const std::string& backend = "cpu") {
    auto made = make_kernel_refine(given);
    if (!made) return made.error().message;
    Fields f(options, "options");
    const auto settings = (*made)->read_options(f, task, backend);
    if (const Status read = f.finish(); !read) return read.error().message;
    const Value first = (*made)->first_observation({task, backend, *settings, {}, 0});
    return first.find("messages")->as_array().at(at).find("content")->as_string();
  }
  std::string user(const Value& options = Value::map()) { return message(1, options); }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder.path() / name, text).ok());
    given.own_templates = folder.path();
  }

  KernelRefineOptions given = [] {
    KernelRefineOptions options;
    options.templates = templates_folder();
    return options;
  }();
  Task task = small_task();
  ScratchFolder folder = ScratchFolder::make().value();
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(PromptTest, FewShot_PutsExamplesBeforeTheTask) {
  const std::string alone = user();
  const std::string after = user(Value::map({{"prompt", "few_shot"}}));
  EXPECT_FALSE(has(alone, "Example 1"));
  EXPECT_TRUE(has(after, "```cpp\n#include <cstdint>\n\nextern \"C\" void scale("));
  EXPECT_TRUE(after.ends_with("\n\n" + alone)) << after;
  given.prompt = kFewShot;
  EXPECT_EQ(user(), after);
  EXPECT_EQ(user(Value::map({{"prompt", "zero_shot"}})), alone);
}

TEST_F(PromptTest, Examples_AreInTheEpisodesLanguage) {
  const std::string in_c = user(Value::map({{"prompt", "few_shot"}, {"language", "c"}}));
  EXPECT_TRUE(has(in_c, "```c\n#include <stdint.h>")) << in_c;
  task.backends.at("cpu").languages = {"python"};
  const std::string in_python = user(Value::map({{"prompt", "few_shot"}, {"hardware", "an H200"}}));
  EXPECT_TRUE(has(in_python, "def triton_kernel_wrapper(x):")) << in_python;
  EXPECT_TRUE(has(in_python, "- The machine: an H200.\n")) << in_python;
  task.backends.at("cpu").languages = {"fortran"};
  EXPECT_EQ(user(Value::map({{"prompt", "few_shot"}})),
            "options: prompt: found few_shot, but there are no examples in fortran");
}

TEST_F(PromptTest, UnknownForm_IsRefused) {
  EXPECT_EQ(user(Value::map({{"prompt", "few_shots"}})),
            "options: prompt: unknown value 'few_shots'; did you mean 'few_shot'?");
  EXPECT_TRUE(has(user(Value::map({{"hardware", std::string(5000, 'x')}})), "options: hardware: "));
}

TEST_F(PromptTest, Hardware_IsDescribedIfConfigured) {
  EXPECT_FALSE(has(user(), "The machine"));
  const Value options = Value::map({{"hardware", "two cores with AVX2"}});
  EXPECT_TRUE(has(user(options), "\n- The machine: two cores with AVX2.\n- You have 4 turns."));
  given.hardware = "an H200";
  EXPECT_TRUE(has(user(), "- The machine: an H200.\n"));
  EXPECT_EQ(user(Value::map({{"hardware", ""}})).find("The machine"), std::string::npos);
}

TEST_F(PromptTest, NearestVariantOfATemplate_IsUsed) {
  task.dataset = "mine";
  write("system.md", "own\n");
  EXPECT_EQ(message(0, Value::map()), "own\n");
  write("system.cpu.md", "own on the CPU\n");
  EXPECT_EQ(message(0, Value::map()), "own on the CPU\n");
  write("system.mine.md", "own for the dataset\n");
  EXPECT_EQ(message(0, Value::map()), "own for the dataset\n");
  write("system.mine.cpu.md", "own for both\n");
  EXPECT_EQ(message(0, Value::map()), "own for both\n");
  task.dataset = "another";
  EXPECT_EQ(message(0, Value::map()), "own on the CPU\n");
}

TEST_F(PromptTest, DeviceCode_HasItsOwnRules) {
  task.backends["cuda"] = task.backends.at("cpu");
  task.backends.at("cuda").languages = {"cuda"};
  EXPECT_TRUE(has(message(0, Value::map(), "cuda"), "// hone: launch NAME"));
  EXPECT_FALSE(has(message(1, Value::map(), "cuda"), "CPU core"));
  EXPECT_TRUE(has(message(1, Value::map(), "cuda"),
                  " s per call. A call that takes over 1 s and over 300 times the baseline's time "
                  "may be stopped.\n"));
}

TEST_F(PromptTest, MistakesInUserTemplates_AreReported) {
  write("tsak.md", "text\n");
  EXPECT_TRUE(has(user(), "tsak.md: unknown template 'tsak'; did you mean 'task'?")) << user();
  std::filesystem::remove(folder.path() / "tsak.md");
  write("task.cuda.md", "{{titles}}\n");
  EXPECT_TRUE(has(user(), "task.cuda.md:1: unknown placeholder 'titles'; did you mean 'title'?"))
      << user();
  given.own_templates = folder.path() / "nowhere";
  EXPECT_TRUE(has(user(), "nowhere/: No such file or directory")) << user();
}

}  // namespace
}  // namespace hone::test
