// Builds of device code by the plugins over the emulated compiler: what comes out, and what is
// refused before or by the compiler.
#include "gpu/backend/fixture.hpp"

namespace hone::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Ne;
using testing::StartsWith;

constexpr char kScale[] =
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"
    "template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N; }\n";

class GpuBuild : public OnVendor {};

TEST_P(GpuBuild, MakesAnArtifactOfAnImageAndTheNamesOfItsEntries) {
  const Value result = built(request(kScale, {"twice", "scale<3>"}));
  EXPECT_EQ(*result.find("ok"), Value(true)) << text_of(result, "diagnostics");
  EXPECT_EQ(*result.find("untrusted_host_code"), Value(false));
  const bool another = !vendor()->compiler_path.empty();
  EXPECT_THAT(text_of(result, "toolchain"), StartsWith(another ? "" : vendor()->compiler + " "));
  EXPECT_NE(text_of(result, "toolchain"), "");
  const auto artifact = from_msgpack(result.find("artifact")->as_bytes());
  ASSERT_TRUE(artifact);
  EXPECT_GT(artifact->find("image")->as_bytes().size(), 0u);
  EXPECT_EQ(text_of(*artifact, "architecture"), vendor()->architecture);
  EXPECT_EQ(text_of(*artifact->find("entries"), "twice"), "twice");
  EXPECT_THAT(text_of(*artifact->find("entries"), "scale<3>"),
              AllOf(Ne(""), Ne("twice"), Ne("scale<3>")));
}

TEST_P(GpuBuild, TellsAMistakeAtItsLine) {
  const Value result =
      built(request("extern \"C\" __global__ void f(float* x) {\n  *x = y;\n}\n", {"f"}));
  EXPECT_EQ(*result.find("ok"), Value(false));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr(source_name() + ":2: error: "));
}

TEST_P(GpuBuild, RefusesAnEntryThatNoSourceHas) {
  const Value result = built(request(kScale, {"thrice"}));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_THAT(text_of(result, "diagnostics"), HasSubstr("thrice"));
}

TEST_P(GpuBuild, RefusesToReadFilesOfTheMachine) {
  const Value result = built(request("#include \"/etc/passwd\"\n", {"f"}));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_EQ(text_of(result, "diagnostics"),
            source_name() + ":1: error: device code may not use #include of an absolute path\n");
}

TEST_P(GpuBuild, RefusesTextThatIsNoName) {
  const Value result = built(request(kScale, {"twice); int (*x"}));
  EXPECT_EQ(text_of(result, "failure"), "refused");
  EXPECT_EQ(text_of(result, "diagnostics"),
            source_name() + ": error: no kernel can have a name with the character ';'\n");
}

TEST_P(GpuBuild, HasTheIntegersOfTheStandardHeader) {
  const Value result =
      built(request("#include <cstdint>\n#include <cstddef>\n#include <climits>\n"
                    "extern \"C\" __global__ void f(std::int64_t* x) { *x = INT_MAX + "
                    "std::int64_t{UINT8_MAX}; }\n",
                    {"f"}));
  EXPECT_EQ(text_of(result, "diagnostics"), "");
  EXPECT_EQ(*result.find("ok"), Value(true));
}

TEST_P(GpuBuild, GivesUpAfterItsSeconds) {
  // 2^28 instances: hours of any compiler.
  const Value result = built(
      request("template <unsigned A, unsigned N> struct Tree {\n"
              "  static const unsigned v = Tree<2 * A, N - 1>::v ^ Tree<2 * A + 1, N - 1>::v;\n"
              "};\n"
              "template <unsigned A> struct Tree<A, 0> { static const unsigned v = A; };\n"
              "extern \"C\" __global__ void f(unsigned* x) { *x = Tree<1, 28>::v; }\n",
              {"f"}, 0.5));
  EXPECT_EQ(*result.find("ok"), Value(false));
  EXPECT_EQ(text_of(result, "failure"), "timed_out");
}

TEST_P(GpuBuild, FailsAsTheMachinesFaultWhereThereIsNoCompiler) {
  Value asked = request(kScale, {"twice"});
  Value options = *asked.find("options");
  options.set("compiler", "/nowhere/libcompiler.so");
  asked.set("options", options);
  const auto result = backend().build(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
  EXPECT_THAT(result.error().message,
              HasSubstr("no " + vendor()->compiler + ": /nowhere/libcompiler.so"));
}

TEST_P(GpuBuild, FailsWhereTheCompilerDoesNotKnowTheArchitecture) {
  Value asked = request(kScale, {"twice"});
  Value options = *asked.find("options");
  options.set("architecture", "x86-64");
  asked.set("options", options);
  const auto result = backend().build(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(result.error().message, HasSubstr("architecture 'x86-64'"));
}

TEST_P(GpuBuild, RefusesRequestsThatAreWrong) {
  Value other = request(kScale, {"twice"});
  other.set("language", "c++");
  EXPECT_THAT(backend().build(other).error().message,
              HasSubstr("language 'c++', expected '" + vendor()->name + "'"));
  Value none = request(kScale, {"twice"});
  none.set("sources", Value::array());
  EXPECT_THAT(backend().build(none).error().message, HasSubstr("0 sources, expected one"));
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuBuild, testing::ValuesIn(vendors()), vendor_name);

}  // namespace
}  // namespace hone::test
