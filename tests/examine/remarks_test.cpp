// Messages of GCC, clang and ptxas.
#include "examine/remarks.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(LoopRemarks, MessagesOfGcc_InnerLoopsHaveReasonsAndOuterLoopsAreLeftOut) {
  const auto loops = loop_remarks(
      "submission.cpp:4:25: missed: couldn't vectorize loop\n"
      "submission.cpp:4:25: missed: not vectorized: loop nest containing two or more consecutive "
      "inner loops cannot be vectorized\n"
      "submission.cpp:9:27: optimized: loop vectorized using 16 byte vectors\n"
      "submission.cpp:9:27: optimized: loop vectorized using 8 byte vectors\n"
      "submission.cpp:8:27: missed: couldn't vectorize loop\n"
      "/usr/include/c++/12/cmath:223:26: missed: statement clobbers memory: _50 = __builtin_expf "
      "(_16);\n"
      "submission.cpp:14:27: missed: couldn't vectorize loop\n"
      "submission.cpp:14:59: missed: not vectorized: not suitable for strided load _6 = *_5;\n",
      "submission.cpp", 10);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(loops[0].line, 8);
  EXPECT_EQ(loops[0].reason, "it calls 'expf'");
  EXPECT_EQ(loops[1].line, 9);
  EXPECT_TRUE(loops[1].is_vectorized);
  EXPECT_EQ(loops[1].vector_bytes, 16);
  EXPECT_EQ(loops[2].line, 14);
  EXPECT_EQ(loops[2].reason, "not suitable for strided load _6 = *_5");
  EXPECT_EQ(loops[2].obstacle, LoopObstacle::kStride);
  EXPECT_EQ(loops[0].obstacle, LoopObstacle::kOther);
}

TEST(LoopRemarks, LoopOfGccWithVectorsInItsSource_IsKnown) {
  const auto loops = loop_remarks(
      "submission.cpp:7:27: missed: couldn't vectorize loop\n"
      "submission.cpp:7:59: missed: not vectorized: no vectype for stmt: _22 = MEM <uint256_t> "
      "[_5];\n",
      "submission.cpp", 10);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].obstacle, LoopObstacle::kHasVectors);
}

TEST(LoopRemarks, MessagesOfClang_ReasonsAreRead) {
  const auto loops = loop_remarks(
      "submission.cpp:9:5: remark: vectorized loop (vectorization width: 8, interleaved count: 4) "
      "[-Rpass=loop-vectorize]\n    for (;;)\n    ^\n"
      "submission.cpp:6:5: remark: loop not vectorized: value that could not be identified as "
      "reduction is used outside the loop [-Rpass-analysis=loop-vectorize]\n",
      "submission.cpp", 10);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_FALSE(loops[0].is_vectorized);
  EXPECT_EQ(loops[0].reason,
            "value that could not be identified as reduction is used outside the loop");
  EXPECT_TRUE(loops[1].is_vectorized);
}

TEST(KernelResources, MessagesOfPtxas_RegistersAndSpillsAreRead) {
  const auto kernels = kernel_resources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'softmax' for 'sm_90a'\n"
      "ptxas info    : Function properties for softmax\n"
      "    64 bytes stack frame, 60 bytes spill stores, 56 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 384 bytes smem, 560 bytes cmem[0]\n",
      10);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].kernel, "softmax");
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].stack_bytes, 64);
  EXPECT_EQ(kernels[0].spill_stores_bytes, 60);
  EXPECT_EQ(kernels[0].spill_loads_bytes, 56);
  EXPECT_EQ(kernels[0].shared_bytes, 384);
}

}  // namespace
}  // namespace hone
