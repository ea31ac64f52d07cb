// Distances between the addresses of neighbouring threads, from PTX: strides, sectors, bank conflicts, and hostile text.
#include "examine/lane_access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examine/assembly.hpp"

namespace hone {
namespace {

using testing::IsEmpty;

/// The accesses of a kernel with this body. %r1 and %rd2 are the thread's index x, %rd1 is a pointer argument.
std::vector<LaneAccess> accesses_of(const std::string& body) {
  const std::string text = R"(
.visible .entry f(
	.param .u64 f_param_0
)
{
	ld.param.u64 	%rd1, [f_param_0];
	mov.u32 	%r1, %tid.x;
	cvt.u64.u32 	%rd2, %r1;
)" + body + "\n\tret;\n}\n";
  return code_blocks(text, "f.cu", 8, 1000).accesses;
}

/// The only access.
LaneAccess access_of(const std::string& body) {
  const std::vector<LaneAccess> all = accesses_of(body);
  EXPECT_EQ(all.size(), 1u) << body;
  return all.empty() ? LaneAccess{} : all[0];
}

TEST(LaneAccess, NeighbouringElements_UseWholeSectors) {
  const LaneAccess access =
      access_of("shl.b64 %rd3, %rd2, 2;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4+64];");
  EXPECT_EQ(access.kernel, "f");
  EXPECT_EQ(access.stride, 4);
  EXPECT_EQ(access.width, 4);
  EXPECT_FALSE(access.is_shared);
  EXPECT_EQ(sector_use(access), 1);
}

TEST(LaneAccess, Arithmetic_ScalesTheStride) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"mul.wide.u32 %rd3, %r1, 12;", 12},
      {"mad.lo.s32 %r2, %r1, 5, 7;\ncvt.s64.s32 %rd3, %r2;", 5},
      {"sub.s32 %r2, 100, %r1;\ncvt.s64.s32 %rd3, %r2;", -1},
      {"neg.s32 %r2, %r1;\ncvt.s64.s32 %rd3, %r2;", -1},
      {"and.b32 %r2, %r1, 31;\nmul.wide.u32 %rd3, %r2, 8;", 8},
      {"and.b32 %r2, %r1, -32;\nmul.wide.u32 %rd3, %r2, 8;", 0},
      {"shr.u32 %r2, %r1, 5;\nmul.wide.u32 %rd3, %r2, 8;", 0},
      {"rem.u32 %r2, %r1, 64;\nmul.wide.u32 %rd3, %r2, 8;", 8},
      {"shl.b32 %r2, %r1, 4;\nor.b32 %r3, %r2, 3;\ncvt.s64.s32 %rd3, %r3;", 16},
      {"mov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r3, %r2, 256, %r1;\nmul.wide.s32 %rd3, %r3, 4;", 4},
      {"mov.u32 %r2, %tid.y;\nmul.wide.s32 %rd3, %r2, 4;", 0},
  };
  for (const auto& [code, stride] : cases) {
    const LaneAccess access =
        access_of(std::string(code) + "\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u8 [%rd4], %r9;");
    EXPECT_EQ(access.stride, stride) << code;
    EXPECT_TRUE(access.is_store);
  }
}

TEST(LaneAccess, IndexTimesAnArgument_IsARuntimeStride) {
  const LaneAccess access = access_of(
      "mul.lo.s64 %rd3, %rd2, %rd1;\nshl.b64 %rd5, %rd3, 2;\nadd.s64 %rd4, %rd1, %rd5;\n"
      "ld.global.v2.f32 {%f1, %f2}, [%rd4];");
  EXPECT_EQ(access.stride, std::nullopt);
  EXPECT_EQ(access.width, 8);
  EXPECT_EQ(sector_use(access), 0.25);
}

TEST(LaneAccess, UnknownAddresses_AreLeftOut) {
  const char* cases[] = {
      "ld.global.u64 %rd3, [%rd4];\nst.global.u32 [%rd3], 0;",  // %rd4 has no value
      "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\ncvt.u64.u32 %rd3, %r2;\nst.global.u32 [%rd3], 0;",
      "mul.lo.s32 %r2, %r1, %r1;\ncvt.u64.u32 %rd3, %r2;\nst.global.u32 [%rd3], 0;",
      "and.b32 %r2, %r1, 7;\ncvt.u64.u32 %rd3, %r2;\nst.global.u32 [%rd3], 0;",
  };
  for (const char* body : cases) EXPECT_THAT(accesses_of(body), IsEmpty()) << body;
}

TEST(LaneAccess, PointerThatALoopAdvances_KeepsItsStride) {
  const LaneAccess access = access_of(
      "shl.b64 %rd3, %rd2, 8;\nadd.s64 %rd4, %rd1, %rd3;\n$L__BB0_1:\nld.global.f32 %f1, [%rd4];\n"
      "ld.global.f32 %f2, [%rd4+4];\nadd.s64 %rd4, %rd4, 8;\n@%p1 bra $L__BB0_1;");
  EXPECT_EQ(access.stride, 256);
  EXPECT_EQ(access.depth, 1);
  EXPECT_EQ(access.count, 2);
  EXPECT_EQ(sector_use(access), 0.125);
}

TEST(LaneAccess, PointerWithTwoStrides_IsUnknown) {
  EXPECT_THAT(accesses_of("shl.b64 %rd4, %rd2, 8;\n@%p1 shl.b64 %rd4, %rd2, 2;\n"
                          "ld.global.f32 %f1, [%rd4];"),
              IsEmpty());
}

TEST(LaneAccess, StructureOfThreeFloats_UsesWholeSectors) {
  const LaneAccess access = access_of(
      "mul.lo.s64 %rd3, %rd2, 12;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];\n"
      "ld.global.f32 %f2, [%rd4+4];\nld.global.f32 %f3, [%rd4+8];");
  EXPECT_EQ(access.covered, 12);
  EXPECT_EQ(sector_use(access), 1);
  // The same element of three structures.
  EXPECT_NEAR(sector_use(access_of("mul.lo.s64 %rd3, %rd2, 12;\nadd.s64 %rd4, %rd1, %rd3;\n"
                                   "ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+384];")),
              1 / 3.0, 1e-9);
}

TEST(LaneAccess, SharedMemory_HasBankConflicts) {
  struct {
    std::int64_t stride, width, conflicts;
  } const cases[] = {
      {0, 4, 1},   {4, 4, 1},    {8, 4, 2},     {12, 4, 1},   {128, 4, 32},
      {132, 4, 1}, {64, 4, 16},  {-128, 4, 32}, {8, 8, 1},    {16, 8, 2},
      {16, 16, 1}, {128, 16, 8}, {2, 2, 1},     {128, 1, 32}, {std::int64_t{1} << 60, 4, 1}};
  for (const auto& one : cases) {
    LaneAccess access;
    access.is_shared = true;
    access.stride = one.stride;
    access.width = one.width;
    EXPECT_EQ(bank_conflicts(access), one.conflicts) << one.stride << " " << one.width;
  }
}

TEST(LaneAccess, Value_HasTheMembersOfAProfile) {
  LaneAccess access = access_of("shl.b32 %r2, %r1, 7;\nld.shared.f32 %f1, [%r2+4];");
  EXPECT_EQ(
      to_json(lane_access_to_value(access)),
      R"({"kernel":"f","line":null,"space":"shared","store":false,"bytes":4,"instructions":1,"stride":128,"bank_conflicts":32})");
  access.is_shared = false;
  access.stride.reset();
  EXPECT_EQ(lane_access_to_value(access).find("sector_use")->as_double(), 0.125);
}

TEST(HostileLanes, KernelBeyondTheLimit_IsReportedAsLeftOut) {
  std::string body;
  for (std::size_t i = 0; i < kLaneInstructionsMax; ++i) body += "add.s32 %r2, %r2, 1;\n";
  const CodeListing listing = code_blocks(".entry f(\n{\n" + body + "ret;\n}\n", "f.cu", 8, 100);
  EXPECT_THAT(listing.accesses, IsEmpty());
  EXPECT_THAT(listing.left_out, testing::ElementsAre("memory accesses: the kernels are too long"));
}

TEST(HostileLanes, ChainThatSettlesSlowly_HasNoAccesses) {
  // The instructions are in reverse order, so each pass settles only one more register.
  std::string body = "shl.b64 %rd3, %rd2, 2;\nld.global.f32 %f1, [%rd3];\n";
  for (std::size_t i = 40; i > 1; --i)
    body += "mov.u32 %x" + std::to_string(i) + ", %x" + std::to_string(i - 1) + ";\n";
  EXPECT_THAT(accesses_of(body + "mov.u32 %x1, %r1;\n"), IsEmpty());
}

TEST(HostileLanes, StrideBeyondAllMemory_IsUnknown) {
  for (const char* factor : {"4611686018427387904", "-2305843009213693952", "2199023255552"})
    EXPECT_THAT(accesses_of(std::string("mul.lo.s64 %rd3, %rd2, ") + factor +
                            ";\nshl.b64 %rd4, %rd3, 2;\nld.global.f32 %f1, [%rd4+4];"),
                IsEmpty())
        << factor;
}

TEST(HostileLanes, MalformedInstructions_AddNoAccesses) {
  for (const char* text :
       {"ld.global.f32", "ld.global.f32 %f1", "ld.global.f32 %f1, [", "ld.global. %f1, [%rd4]",
        "st.shared.v9.q77 [%r1+99999999999999999999], {{{{", "@%p1", "mov.u32 %r1",
        "shl.b32 %r1, %r1, 999", "mul.lo.s64 %rd2, %rd2, 9223372036854775807",
        "and.b64 %rd2, %rd2, 9223372036854775807", "sub.s64 %rd2, -9223372036854775807, %rd2"})
    EXPECT_LE(
        accesses_of(std::string(text) + "\nshl.b64 %rd3, %rd2, 2;\nld.global.f32 %f1, [%rd3+4];")
            .size(),
        1u)
        << text;
}

TEST(HostileLanes, ManyDifferentAccesses_AreLimited) {
  std::string body;
  for (int i = 1; i <= 300; ++i)
    body += "mul.lo.s64 %rd3" + std::to_string(i) + ", %rd2, " + std::to_string(i) +
            ";\nld.global.f32 %f1, [%rd3" + std::to_string(i) + "];\n";
  EXPECT_EQ(accesses_of(body).size(), kAccessesMax);
}

}  // namespace
}  // namespace hone
