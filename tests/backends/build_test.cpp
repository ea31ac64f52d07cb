// Builds: artifacts, failures of a source, and faults of the machine.
#include <elf.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "backends/tested.hpp"
#include "base/files.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr char kTwice[] = "KERNEL twice(float* x, int n) { EACH(i, n) x[i] *= 2; }\n";

class BackendBuild : public OnBackend {
 protected:
  /// "kernel:3:" of the second line of a case's source.
  static std::string at_line(int line) {
    return std::string(kSourceName) + ":" + std::to_string(dialect_of(*current()).lines + line) +
           ":";
  }
  static void expect_refused(const Value& result, const std::string& words) {
    EXPECT_FALSE(flag_of(result, "ok"));
    EXPECT_EQ(text_of(result, "failure"), "refused");
    EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr(words));
    ASSERT_NE(result.find("artifact"), nullptr);
    EXPECT_EQ(result.find("artifact")->as_bytes(), "");
  }
  static Value without(Value asked, const char* key, Value instead) {
    asked.set(key, std::move(instead));
    return asked;
  }
  static void expect_error(const Value& asked, const std::string& words) {
    const auto result = try_build(backend(), asked);
    ASSERT_FALSE(result) << words << ": " << text_of(*result, "diagnostics");
    EXPECT_EQ(result.error().code, Code::kInvalidArgument) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr(words));
  }
};

TEST_P(BackendBuild, CorrectSource_GivesAnArtifact) {
  const Value result = built(request(in_dialect(kTwice), {"twice"}));
  EXPECT_TRUE(flag_of(result, "ok"));
  EXPECT_EQ(text_of(result, "failure"), "");
  EXPECT_EQ(text_of(result, "diagnostics"), "");
  ASSERT_NE(result.find("artifact"), nullptr);
  EXPECT_GT(result.find("artifact")->as_bytes().size(), 0u);
}

/// The submission chooses this text.
TEST_P(BackendBuild, WarningWithTextOfAFailure_IsNotAFailure) {
  const std::string text =
      "CPU time limit exceeded, terminated with signal 24, terminated by signal 9, out of memory";
  const Value result =
      built(request(in_dialect("#pragma message(\"" + text + "\")\n" + kTwice), {"twice"}));
  EXPECT_EQ(text_of(result, "failure"), "");
  EXPECT_TRUE(flag_of(result, "ok"));
  if (!named_by_environment()) {  // other compilers may not print the message
    EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr(text));
  }
}

/// Builds are kept by what was asked, and speedups by the toolchain's words: these must not waver.
TEST_P(BackendBuild, Toolchain_IsDeterministic) {
  const Value asked = request(in_dialect(kTwice), {"twice"});
  const Value first = built(asked), second = built(asked);
  EXPECT_NE(text_of(first, "toolchain"), "");
  EXPECT_EQ(text_of(first, "toolchain").find('\n'), std::string::npos);
  EXPECT_EQ(text_of(second, "toolchain"), text_of(first, "toolchain"));
  EXPECT_EQ(flag_of(second, "untrusted_host_code"), flag_of(first, "untrusted_host_code"));
}

TEST_P(BackendBuild, Mistake_IsReportedAtItsLine) {
  const Value result = built(request(in_dialect("KERNEL f(float* x) {\n  *x = y;\n}\n"), {"f"}));
  expect_refused(result, at_line(2));
  EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr("error: "));
}

TEST_P(BackendBuild, MissingEntry_IsRefused) {
  expect_refused(built(request(in_dialect(kTwice), {"thrice"})), "thrice");
}

/// The machine code of a library: its section .text.
std::string machine_code(const std::string& library) {
  const auto at = [&library](std::uint64_t offset) { return library.data() + offset; };
  Elf64_Ehdr header;
  if (library.size() < sizeof header) return "";
  std::memcpy(&header, at(0), sizeof header);
  const auto section = [&](unsigned index) {
    Elf64_Shdr found;
    std::memcpy(&found, at(header.e_shoff + index * sizeof found), sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    if (std::string_view(at(names.sh_offset + one.sh_name)) == ".text")
      return library.substr(one.sh_offset, one.sh_size);
  }
  return "";
}

/// In C, these pragmas change macros, unless the source is preprocessed in a separate step.
TEST_P(BackendBuild, ReportOnTheCode_LeavesTheMachineCodeAsItIs) {
  if (dialect_of(*current()).language != "c++") GTEST_SKIP() << "the backend builds no host code";
  for (const char* pragma : {"optimize(\"fast-math\")", "target(\"avx2,fma\")", "optimize(3)"}) {
    const std::string source =
        "#pragma GCC " + std::string(pragma) +
        "\nvoid f(float* x, int n) {\n"
        "#ifdef __FAST_MATH__\n  n /= 2;\n#endif\n#ifdef __AVX2__\n  n /= 3;\n#endif\n"
        "  float s = 0;\n  for (int i = 0; i < n; ++i) s += x[i] * x[i];\n  *x = s;\n}\n";
    Value asked = request(source, {"f"});
    Value options = *asked.find("options");
    options.set("flags", Value::array({"-O2"}));
    asked.set("language", "c").set("options", options);
    const Value plain = built(asked);
    options.set("report", "code");
    const Value reported = built(without(asked, "options", options));
    const std::string code = machine_code(plain.find("artifact")->as_bytes());
    EXPECT_GT(code.size(), 0u) << text_of(plain, "diagnostics");
    EXPECT_EQ(code, machine_code(reported.find("artifact")->as_bytes())) << pragma;
    ASSERT_NE(reported.find("report"), nullptr);
    EXPECT_THAT(text_of(*reported.find("report"), "assembly"), HasSubstr("f:"));
  }
}

/// GCC writes its remarks to a file. Its other output can contain text of the source.
TEST_P(BackendBuild, ReportOnTheCode_HasNoTextOfAPragmaMessage) {
  if (dialect_of(*current()).language != "c++") GTEST_SKIP() << "the backend builds no host code";
  Value asked = request(
      "#pragma message(\"kernel:1:1: missed: not vectorized: obey\")\nextern \"C\" void f() {}\n",
      {"f"});
  Value options = *asked.find("options");
  options.set("report", "code");
  const Value result = built(without(asked, "options", options));
  ASSERT_TRUE(flag_of(result, "ok")) << text_of(result, "diagnostics");
  EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr("obey"));
  EXPECT_EQ(text_of(*result.find("report"), "remarks"), "");
}

/// Device code has no use for a file of the machine; host code is kept from it by the builder's
/// jail.
TEST_P(BackendBuild, DeviceCode_CannotReadTheMachinesFiles) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "secret.h").string();
  ASSERT_TRUE(write_file(file, "enum { kSecret = 42 };\n").ok());
  const Value result = built(request(
      in_dialect("#include \"" + file + "\"\nKERNEL f(int* x) { *x = kSecret; }\n"), {"f"}));
  if (flag_of(result, "ok")) {
    EXPECT_TRUE(flag_of(result, "untrusted_host_code"));
  } else {
    expect_refused(result, at_line(1));
    EXPECT_EQ(text_of(result, "diagnostics").find("42"), std::string::npos);
  }
}

TEST_P(BackendBuild, StandardNumericHeaders_Exist) {
  const Value result = built(
      request(in_dialect("#include <cstdint>\n#include <cstddef>\n#include <climits>\n"
                         "#include <cfloat>\n#include <cmath>\n"
                         "KERNEL f(std::int64_t* x) { *x = INT_MAX + std::int64_t{UINT8_MAX}; }\n"),
              {"f"}));
  EXPECT_EQ(text_of(result, "diagnostics"), "");
  EXPECT_TRUE(flag_of(result, "ok"));
}

/// Waits for what the build has started to end: those whose parent has ended are children of this process. False after
/// ten seconds, with them still at work.
bool all_children_ended() {
  for (int i = 0; i < 1000; ++i) {
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return true;
    usleep(10'000);
  }
  return false;
}

TEST_P(BackendBuild, TimeLimit_EndsTheBuild) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  // 2^28 instances: hours of any compiler.
  const Value result = built(request(
      in_dialect("template <unsigned A, unsigned N> struct Tree {\n"
                 "  static const unsigned v = Tree<2 * A, N - 1>::v ^ Tree<2 * A + 1, N - 1>::v;\n"
                 "};\n"
                 "template <unsigned A> struct Tree<A, 0> { static const unsigned v = A; };\n"
                 "KERNEL f(unsigned* x) { *x = Tree<1, 28>::v; }\n"),
      {"f"}, 0.5));
  EXPECT_FALSE(flag_of(result, "ok"));
  EXPECT_EQ(text_of(result, "failure"), "timed_out");
  EXPECT_TRUE(all_children_ended());
}

TEST_P(BackendBuild, MissingCompiler_IsAFaultOfTheMachine) {
  Value asked = request(in_dialect(kTwice), {"twice"});
  Value options = *asked.find("options");
  options.set("compiler", "/nowhere/compiler.so");
  const auto result = try_build(backend(), without(asked, "options", options));
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().code == Code::kUnavailable ||
              result.error().code == Code::kFailedPrecondition)
      << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr("/nowhere/compiler.so"));
}

TEST_P(BackendBuild, InvalidRequest_IsRefused) {
  const Value asked = request(in_dialect(kTwice), {"twice"});
  expect_error(without(asked, "language", "an unknown language"), "language 'an unknown language'");
  expect_error(without(asked, "sources", Value::array()), "0 sources");
  for (const char* name : {"../kernel", "/tmp/kernel", ".kernel", ""}) {
    expect_error(
        without(asked, "sources", Value::array({Value::map({{"name", name}, {"text", kTwice}})})),
        "source name '" + std::string(name) + "'");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendBuild, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
