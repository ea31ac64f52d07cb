// Placeholders, omitted lines, and mistakes with file and line.
#include "kernel_refine/template.hpp"

#include <gtest/gtest.h>

namespace hone::kernel_refine {
namespace {

std::string filled(const std::string& text, const Words& words) {
  const auto parsed = Template::parse("t.md", text, {"a", "b"});
  EXPECT_TRUE(parsed.ok());
  return parsed->fill(words);
}

TEST(Template, Placeholders_AreFilled) {
  EXPECT_EQ(filled("<!-- why -->\nx {{a}}{{b}} y\n", {{"a", "1"}, {"b", "2"}}), "x 12 y\n");
  EXPECT_EQ(filled("{{a}}", {{"a", "{{b}}"}, {"b", "no"}}),
            "{{b}}\n");  // what is filled in is not read again
}

TEST(Template, LineOfEmptyPlaceholders_IsOmitted) {
  EXPECT_EQ(filled("1\n{{a}}{{b}}\n\n2\n", {}), "1\n\n2\n");
  EXPECT_EQ(filled("x{{a}}\n", {}), "x\n");
}

TEST(Template, Mistakes_NameFileAndLine) {
  EXPECT_EQ(Template::parse("t.md", "\n{{entyr}}\n", {"entry"}).error().message,
            "t.md:2: unknown placeholder 'entyr'; did you mean 'entry'?");
  EXPECT_EQ(Template::parse("t.md", "{{a", {"a"}).error().message,
            "t.md:1: found '{{' without '}}' on its line");
  EXPECT_EQ(Template::load("/nowhere/t.md", {}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace hone::kernel_refine
