// Loops in assembler text of GCC and in PTX.
#include "examine/assembly.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr const char* kGcc = R"(
	.file 0 "/tmp" "submission.cpp"
	.globl	f
	.type	f, @function
f:
.LFB0:
	.file 1 "submission.cpp"
	.loc 1 4 25
	testq	%rdx, %rdx
	jle	.L32
.L10:
	.loc 1 5 3
	vmovss	0(%r13), %xmm2
.L5:
	.loc 1 6 3
	vmovups	(%r11), %ymm0
	.loc 2 90 3
	addq	$32, %r11
	vaddps	%ymm2, %ymm0, %ymm2
	vdivss	%xmm1, %xmm0, %xmm0
	call	expf@PLT
	cmpq	%r12, %r11
	jne	.L5
	.loc 1 8 3
	jne	.L10
.L32:
	ret
g:
	ret
)";

TEST(CodeBlocks, InnermostLoopOfGcc_HasLinesDepthAndCounts) {
  const auto blocks = code_blocks(kGcc, "submission.cpp", 8, 1000).blocks;
  ASSERT_EQ(blocks.size(), 2u);
  const CodeBlock& loop = blocks[0];
  EXPECT_TRUE(loop.is_loop);
  EXPECT_EQ(loop.function, "f");
  EXPECT_EQ(loop.depth, 1);
  EXPECT_EQ(loop.line_first, 6);
  EXPECT_EQ(loop.line_last, 6);
  EXPECT_EQ(loop.instructions, 7);
  EXPECT_EQ(loop.vector, 1);
  EXPECT_EQ(loop.scalar, 1);
  EXPECT_EQ(loop.divisions, 1);
  EXPECT_EQ(loop.calls, 1);
  EXPECT_EQ(loop.text.substr(0, loop.text.find('\n')), "vmovups (%r11), %ymm0  ; line 6");
  EXPECT_FALSE(blocks[1].is_loop);
  EXPECT_EQ(blocks[1].function, "g");
}

constexpr const char* kPtx = R"(
.version 8.0
.target sm_90a
.visible .entry scale(
	.param .u64 scale_param_0
)
{
	.reg .pred 	%p<3>;
	.loc	1 7 1
	mov.u32 	%r1, %tid.x;
$L__BB0_2:
	.loc	1 9 3
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd4];
	st.local.f32 	[%rd5], %f1;
	bar.sync 	0;
	st.global.f32 	[%rd6], %f1;
	@%p1 bra 	$L__BB0_2;
	ret;
}
.file	1 "/build/submission.cu"
)";

TEST(CodeBlocks, LoopOfPtx_CountsMemoryAndBarriers) {
  const auto blocks = code_blocks(kPtx, "submission.cu", 8, 1000).blocks;
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks[0].is_loop);
  EXPECT_EQ(blocks[0].function, "scale");
  EXPECT_EQ(blocks[0].instructions, 5);
  EXPECT_EQ(blocks[0].global, 2);
  EXPECT_EQ(blocks[0].global_wide, 1);
  EXPECT_EQ(blocks[0].local, 1);
  EXPECT_EQ(blocks[0].barriers, 1);
  EXPECT_EQ(blocks[0].line_first, 9);
}

TEST(CodeBlocks, MalformedText_StaysWithinTheLimits) {
  std::string text = "f:\n.L1:\n";
  for (int i = 0; i < 3000; ++i) text += "\tnop\n\tjne .L1\n";
  const auto blocks = code_blocks(text, "submission.cpp", 3, 200).blocks;
  EXPECT_LE(blocks.size(), 3u);
  for (const CodeBlock& block : blocks) EXPECT_LE(block.text.size(), 200u);
  EXPECT_TRUE(code_blocks("\"\n.file 1\n.loc 99999999999999999999 1\n.entry \n:\n@\n", "s", 3, 9)
                  .blocks.empty());
  EXPECT_TRUE(code_blocks("", "s", 3, 9).blocks.empty());
}

}  // namespace
}  // namespace hone
