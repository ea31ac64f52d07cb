// Listings of nvdisasm.
#include "examine/machine_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two kernels of one image, shortened.
constexpr const char* kListing =
    R"sass(	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
	.elftype	@"ET_EXEC"


//--------------------- .text.loop                --------------------------
	.section	.text.loop,"ax",@progbits
	.align	128
        .global         loop
        .type           loop,@function
        .size           loop,(.L_x_4 - loop)
        .other          loop,@"STO_CUDA_ENTRY STV_DEFAULT"
loop:
.text.loop:
	//## File "/folder/submission.py", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R2, SR_TID.X ;
.L_x_1:
	//## File "/folder/submission.py", line 8
        /*0020*/              @!P0 LDG.E.128 R4, desc[UR4][R4.64+0x200] ;
	//## File "/folder/other.py", line 8
        /*0030*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0 ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_2:
        /*0050*/               @P0 BRA `(.L_x_1) ;
        /*0060*/                   EXIT ;
.L_x_3:
        /*0070*/                   BRA `(.L_x_3);
        /*0080*/                   NOP;
        /*0090*/                   NOP;
.L_x_4:


//--------------------- .text._Z3addPf            --------------------------
	.section	.text._Z3addPf,"ax",@progbits
	.align	128
        .global         _Z3addPf
_Z3addPf:
.text._Z3addPf:
        /*0000*/                   MOV R20, 32@lo((_Z3addPf + .L_x_5@srel)) ;
        /*0010*/                   CALL.REL.NOINC `($_Z3addPf$__internal_0) ;
.L_x_5:
        /*0020*/                   EXIT ;
        .weak           $_Z3addPf$__internal_0
$_Z3addPf$__internal_0:
        /*0030*/                   RET.REL.NODEC R20 `(_Z3addPf) ;


//--------------------- SYMBOLS --------------------------

	.type		.nv.reservedSmem.offset0,@object
)sass";

TEST(MachineCode, Kernel_HasItsCountsWithoutPadding) {
  const auto kernels = read_machine_code(kListing);
  ASSERT_EQ(kernels.size(), 2u);
  const MachineCode& loop = kernels.at("loop");
  EXPECT_EQ(loop.instructions, 8);
  const std::map<std::string, std::int64_t> opcodes{
      {"BAR", 1}, {"BRA", 2}, {"EXIT", 1}, {"HGMMA", 1}, {"LDC", 1}, {"LDG", 1}, {"S2R", 1}};
  EXPECT_EQ(loop.opcodes, opcodes);
  EXPECT_EQ(kernels.at("_Z3addPf").instructions, 4);
}

TEST(MachineCode, Listing_HasLabelsOfTargetsAndChangesOfTheLine) {
  const auto kernels = read_machine_code(kListing);
  const std::string pad(8, ' ');
  const auto with_place = [](std::string line, const std::string& place) {
    line.append(72 - line.size(), ' ');
    return line + " // " + place + "\n";
  };
  EXPECT_EQ(kernels.at("loop").text,
            with_place(pad + "LDC R1, c[0x0][0x28]", "submission.py:7") + pad +
                "S2R R2, SR_TID.X\n" + ".L_x_1:\n" +
                with_place("  @!P0  LDG.E.128 R4, desc[UR4][R4.64+0x200]", "submission.py:8") +
                with_place(pad + "HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0", "other.py:8") +
                pad + "BAR.SYNC.DEFER_BLOCKING 0x0\n" + "  @P0   BRA .L_x_1\n" + pad + "EXIT\n" +
                ".L_x_3:\n" + pad + "BRA .L_x_3\n");
}

TEST(MachineCode, FunctionsOfAKernel_KeepTheirLabels) {
  const auto kernels = read_machine_code(kListing);
  const std::string& text = kernels.at("_Z3addPf").text;
  EXPECT_THAT(text, HasSubstr("CALL.REL.NOINC $_Z3addPf$__internal_0\n.L_x_5:\n"));
  EXPECT_THAT(text, HasSubstr("\n$_Z3addPf$__internal_0:\n"));
  EXPECT_THAT(text, Not(HasSubstr("SYMBOLS")));
}

TEST(MachineCode, ControlCharacters_AreReplaced) {
  const auto kernels = read_machine_code(
      "\t.section\t.text.k,\"ax\",@progbits\n\x1b[2J:\n"
      "\t//## File \"/a\x1b]0;b\xff.py\", line 3\n"
      "/*0000*/ @\x1b LDG.E \x1b[2J\x9b \r\a;\n/*0010*/ BRA `(\x1b[2J) ;\n");
  const std::string& text = kernels.at("k").text;
  EXPECT_THAT(text, HasSubstr("?[2J"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

TEST(MachineCode, HostileListings_StayWithinTheLimits) {
  EXPECT_TRUE(read_machine_code("").empty());
  EXPECT_TRUE(read_machine_code("\t.section\t.text.\n\t.section\t.text.a\n/*0*/ LDG ;").empty());
  std::string listing = "\t.section\t.text.k,\"ax\",@progbits\n";
  for (int i = 0; i < 1000; ++i) listing += "/*0*/ OP" + std::to_string(i) + " R0 ;\n";
  listing += "/*0*/ " + std::string(100000, 'A') + " ;\n/*0*/ lower ;\n/*0 no end\n/**/;\n";
  const MachineCode code = read_machine_code(listing).at("k");
  EXPECT_EQ(code.opcodes.size(), kOpcodesMax);
  EXPECT_EQ(code.instructions, 1002);
  EXPECT_LT(code.text.size(), 40000u);
}

TEST(MachineCode, SecondSectionOfAName_IsLeftOut) {
  const auto kernels = read_machine_code(
      "\t.section\t.text.k,\"ax\",@progbits\n/*0*/ EXIT ;\n"
      "\t.section\t.text.k,\"ax\",@progbits\n/*0*/ EXIT ;\n/*0*/ EXIT ;\n");
  EXPECT_EQ(kernels.at("k").instructions, 1);
}

}  // namespace
}  // namespace hone
