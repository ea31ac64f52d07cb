// The parts of each vendor, mostly HIP's, and the meaning of driver errors.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "describe.hpp"
#include "errors.hpp"
#include "vendor/hip_clang.hpp"
#include "vendor/hip_code_object.hpp"
#include "vendor_build.hpp"

namespace hone_gpu {
namespace {

using testing::HasSubstr;

TEST(GpuErrors, Errors_AreClassified) {
  for (const int fault : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
    EXPECT_EQ(meaning_of(fault, true).code, HONE_FAILED_PRECONDITION) << fault;
    EXPECT_STRNE(meaning_of(fault, true).words, "") << fault;
  }
  for (const int large : {2, 701, 720}) {
    EXPECT_EQ(meaning_of(large, true).code, HONE_RESOURCE_EXHAUSTED) << large;
  }
  for (const int shape : {1, 9, 801, 912}) {
    EXPECT_EQ(meaning_of(shape, true).code, HONE_INVALID_ARGUMENT) << shape;
  }
  for (const int machine : {3, 46, 100, 214, 802, 803, 999}) {
    EXPECT_EQ(meaning_of(machine, true).code, HONE_UNAVAILABLE) << machine;
  }
  EXPECT_EQ(meaning_of(12345, true).code, HONE_UNAVAILABLE);  // an unknown error is a fault
  EXPECT_EQ(meaning_of(1, false).code, HONE_INTERNAL);        // a call of ours
}

TEST(Hip, OldHiprtc_IsNotGivenOptionsThatCrashIt) {
  EXPECT_EQ(architecture_trouble("gfx90a", 9, 0), "");
  EXPECT_EQ(architecture_trouble("gfx908", 5, 2), "");
  EXPECT_THAT(architecture_trouble("gfx942", 9, 0), HasSubstr("expected 'gfx908' or 'gfx90a'"));
  EXPECT_EQ(architecture_trouble("gfx942", 6, 2), "");
  EXPECT_THAT(architecture_trouble("sm_90", 6, 2), HasSubstr("expected one like 'gfx942'"));
}

TEST(Hip, GfxName_GivesTheIsaVersionOfTheDeviceLibraries) {
  EXPECT_EQ(isa_version("gfx942"), "9402");
  EXPECT_EQ(isa_version("gfx90a"), "9010");
  EXPECT_EQ(isa_version("gfx1100"), "11000");
  EXPECT_EQ(isa_version("gfx"), "");
  EXPECT_EQ(isa_version("sm_90"), "");
}

TEST(Hip, MachineWithoutADevice_IsDescribed) {
  const hone::plugin::Value said = description();
  EXPECT_EQ(said.at("languages").as_array().at(0).as_string(), "hip");
  EXPECT_EQ(said.at("withholds").as_string(), "stream");
}

TEST(CodeObject, InvalidImage_IsRefused) {
  EXPECT_THROW(pointed_at("", "x"), hone::plugin::Failure);
  EXPECT_THROW(
      pointed_at("no elf file, whatever its length may be: more than a header of 64 bytes", "x"),
      hone::plugin::Failure);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shnum = 3;
  header.e_shoff = ~0ull - 8;
  const std::string_view bytes(reinterpret_cast<const char*>(&header), sizeof header);
  EXPECT_THROW(pointed_at(bytes, "x"), hone::plugin::Failure);
}

}  // namespace
}  // namespace hone_gpu
