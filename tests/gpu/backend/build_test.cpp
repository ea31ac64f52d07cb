// Builds of device code: contents of the gpu plugins' artifacts, and their error messages. tests/backends has the
// tests that apply to every backend.
#include <sys/stat.h>

#include "base/files.hpp"
#include "gpu/backend/fixture.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Ne;
using testing::StartsWith;

constexpr char kScale[] =
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"
    "template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N; }\n";

class GpuBuild : public OnBackend {};

TEST_P(GpuBuild, CorrectSource_GivesAnImageAndTheNamesOfItsEntries) {
  const Value result = built(request(kScale, {"twice", "scale<3>"}));
  EXPECT_EQ(*result.find("ok"), Value(true)) << text_of(result, "diagnostics");
  EXPECT_EQ(*result.find("untrusted_host_code"), Value(false));
  if (builds_at_run_time()) {
    EXPECT_THAT(text_of(result, "toolchain"), StartsWith(compiler_name() + " "));
  }
  const auto artifact = from_msgpack(result.find("artifact")->as_bytes());
  ASSERT_TRUE(artifact);
  EXPECT_GT(artifact->find("image")->as_bytes().size(), 0u);
  EXPECT_EQ(text_of(*artifact, "architecture"), current()->architecture);
  EXPECT_EQ(text_of(*artifact->find("entries"), "twice"), "twice");
  EXPECT_THAT(text_of(*artifact->find("entries"), "scale<3>"),
              AllOf(Ne(""), Ne("twice"), Ne("scale<3>")));
}

TEST_P(GpuBuild, AbsoluteInclude_IsRefused) {
  const Value result = built(request("#include \"/etc/passwd\"\n", {"f"}));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_EQ(text_of(result, "diagnostics"),
            std::string(kSourceName) +
                ":1: error: device code may not use #include of an absolute path\n");
}

TEST_P(GpuBuild, InvalidEntryName_IsRefused) {
  const Value result = built(request(kScale, {"twice); int (*x"}));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_EQ(
      text_of(result, "diagnostics"),
      std::string(kSourceName) + ": error: no kernel can have a name with the character ';'\n");
}

TEST_P(GpuBuild, MissingCompiler_IsAFaultOfTheMachine) {
  Value asked = request(kScale, {"twice"});
  Value options = *asked.find("options");
  options.set("compiler", "/nowhere/libcompiler.so");
  asked.set("options", options);
  const auto result = try_build(backend(), asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_THAT(result.error().message,
              HasSubstr("no " + compiler_name() + ": /nowhere/libcompiler.so"));
}

TEST_P(GpuBuild, UnknownArchitecture_IsAFailedPrecondition) {
  Value asked = request(kScale, {"twice"});
  Value options = *asked.find("options");
  options.set("architecture", "x86-64");
  asked.set("options", options);
  const auto result = try_build(backend(), asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(result.error().message, HasSubstr("architecture 'x86-64'"));
}

TEST_P(GpuBuild, InvalidRequest_IsRefused) {
  Value other = request(kScale, {"twice"});
  other.set("language", "c++");
  EXPECT_THAT(try_build(backend(), other).error().message,
              HasSubstr("language 'c++', expected '" + current()->name + "'"));
  Value none = request(kScale, {"twice"});
  none.set("sources", Value::array());
  EXPECT_THAT(try_build(backend(), none).error().message, HasSubstr("0 sources, expected one"));
}

/// Warnings about a module quote the submission.
TEST_P(GpuBuild, ModuleThatPrintsTextOfAFailure_IsNotAFailure) {
  const TemporaryFolder folder;
  const std::string interpreter = (folder.path() / "python").string();
  ASSERT_TRUE(write_file(interpreter,
                         "#!/bin/sh\n"
                         "echo 'CPU time limit exceeded, out of memory'\n"
                         "echo module > artifact.so\n")
                  .ok());
  ASSERT_EQ(chmod(interpreter.c_str(), 0700), 0);
  Value asked = request("import torch\n", {});
  asked.set("language", "python");
  asked.set("options",
            Value::map({{"compiler", interpreter}, {"flags", Value::array()}, {"seconds", 60.0}}));
  const Value result = built(asked);
  EXPECT_EQ(text_of(result, "failure"), "");
  EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr("CPU time limit exceeded"));
  EXPECT_EQ(result.find("artifact")->as_bytes(), "module\n");
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuBuild, testing::ValuesIn(vendors()), tested_name);

}  // namespace
}  // namespace hone::test
