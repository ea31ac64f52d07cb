// Preprocessor directives that a source may use, and text that only looks like a directive.
#include "screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone_gpu {
namespace {

using testing::HasSubstr;

std::string screened(const std::string& text) { return screen("k.cu", text); }

TEST(Screen, VendorHeadersAndPlainCode_AreAllowed) {
  EXPECT_EQ(screened("#include <cuda_fp16.h>\n#include \"mma.h\"\n  #  include <cuda/std/cstdint>\n"
                     "#pragma unroll\n#define N 3\nextern \"C\" __global__ void f() {}\n"),
            "");
}

struct Refused {
  const char* text;
  const char* words;
};
class ScreenRefuses : public testing::TestWithParam<Refused> {};
TEST_P(ScreenRefuses, ForbiddenDirective_IsRefusedWithItsLine) {
  EXPECT_THAT(screened(GetParam().text), HasSubstr(GetParam().words)) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    All, ScreenRefuses,
    testing::Values(Refused{"int x;\n#include \"/etc/passwd\"\n",
                            "k.cu:2: error: device code may not use #include of an absolute"},
                    Refused{"#include </etc/passwd>",
                            "k.cu:1: error: device code may not use #include of an absolute"},
                    Refused{"#include <a/../../b>", "path that goes up"},
                    Refused{"#define F \"/etc/passwd\"\n#include F\n",
                            "k.cu:2: error: device code may not use #include of what"},
                    Refused{"#include_next <a.h>", "#include_next"},
                    Refused{"%:include \"/a\"", "absolute"},
                    Refused{"#inc\\\nlude \"/a\"",
                            "k.cu:1: error: device code may not use #include of an absolute"},
                    Refused{"#inc\\  \nlude \"/a\"", "absolute"},
                    Refused{"/* a\n */ # /* b */ include /* c */ \"/a\"",
                            "k.cu:2: error: device code may not use #include of an absolute"},
                    Refused{"#embed \"a\"", "#embed"}, Refused{"#import \"a\"", "#import"},
                    Refused{"const char* a = \"/*\";\n#include \"/a\"\n", "k.cu:2:"},
                    Refused{"const char* a = \"\\\"/*\";\n#include \"/a\"\n", "k.cu:2:"},
                    Refused{"char a = '\"';\n#include \"/a\"\n", "k.cu:2:"},
                    Refused{"int a = 1'000'0;\n#include \"/a\"\n", "k.cu:2:"},
                    Refused{"auto a = R\"x(\n\")y\" /* )x\";\n#include \"/a\"\n", "k.cu:3:"},
                    Refused{"// a comment \\\n goes on\n#include \"/a\"\n", "k.cu:3:"},
                    Refused{"#include \"\"", "no plain name"}));

TEST(Screen, TextLikeADirective_IsAllowed) {
  EXPECT_EQ(screened("const char* a = \"\\\n#include \\\"/a\\\"\";\n"), "");
  EXPECT_EQ(screened("auto a = R\"(\n#include \"/a\"\n)\";\n"), "");
  EXPECT_EQ(screened("/*\n#include \"/a\"\n*/\n"), "");
  EXPECT_EQ(screened("// \\\n#include \"/a\"\n"), "");
  EXPECT_EQ(screened("int x; #include \"/a\"\n"), "");  // which no compiler takes
  EXPECT_EQ(screened("asm volatile(\"trap;\");\n"), "");
}

TEST(Screen, AnyText_Terminates) {
  for (const char* text :
       {"\"", "'", "R\"(", "R\"", "/*", "//", "#", "%:", "\\", "\\\n", "#include", "1'"}) {
    screened(text);
  }
}

TEST(Screen, EntryOtherThanANameOrTemplateInstance_IsRefused) {
  for (const char* entry : {"f", "f<float, 4>", "ns::f<(3 + 4) * 2>", "f<const float*, -1>"}) {
    EXPECT_EQ(screen_entry(entry), "") << entry;
  }
  EXPECT_EQ(screen_entry(""), "an empty name");
  EXPECT_EQ(screen_entry("f\n"), "a name with the character '\n'");
  EXPECT_EQ(screen_entry("f{}"), "a name with the character '{'");
  EXPECT_EQ(screen_entry(std::string(300, 'f')), "a name of 300 characters");
}

}  // namespace
}  // namespace hone_gpu
