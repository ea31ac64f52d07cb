// The readers of cubins and fat binaries.
#include <gtest/gtest.h>

#include "cubin_file.hpp"
#include "record/images/cubin.hpp"
#include "record/images/fatbin.hpp"

namespace hone::test {
namespace {

using namespace record;

TEST(Images, Cubin_HasItsKernelsParametersAndVariables) {
  CubinText text;
  text.registers = 77;
  text.shared_bytes = 2048;
  text.variables = {{"table", 16, true}, {"counter", 4, false}};
  const auto cubin = read_cubin(cubin_file(text));
  ASSERT_TRUE(cubin);
  ASSERT_EQ(cubin->kernels.count("kernel"), 1u);
  const CubinKernel& kernel = cubin->kernels.at("kernel");
  EXPECT_EQ(kernel.registers, 77u);
  EXPECT_EQ(kernel.shared_bytes, 2048u);
  EXPECT_EQ(kernel.parameter_bytes, 20u);
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[2].offset, 16u);
  EXPECT_EQ(kernel.block_threads_max, 800u) << "65536 registers in units of eight, whole warps";
  EXPECT_TRUE(cubin->variables.at("table").is_constant);
  EXPECT_FALSE(cubin->variables.at("counter").is_constant);
}

TEST(Images, ReservedSharedMemory_IsNotTheKernels) {
  CubinText text;
  text.reserves_shared = true;
  for (const auto& [section, kernel] :
       {std::pair(0u, 0u), {512u, 0u}, {1024u, 0u}, {1536u, 512u}}) {
    text.shared_bytes = section;
    EXPECT_EQ(read_cubin(cubin_file(text))->kernels.at("kernel").shared_bytes, kernel) << section;
  }
}

TEST(Images, DamagedCubins_AreRefusedOrReadWithinTheirBounds) {
  const std::string file = cubin_file();
  for (std::size_t size = 0; size < file.size(); ++size) read_cubin(file.substr(0, size));
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string damaged = file;
      damaged[at] = byte;
      read_cubin(damaged);
    }
  }
  EXPECT_FALSE(read_cubin(file.substr(0, 63)));
}

TEST(Images, Fatbin_GivesTheImageOfTheArchitecture) {
  const std::string fatbin = fatbin_file({{1, 70, "text"},
                                          {2, 80, "of 80"},
                                          {2, 90, "of 90a", true},
                                          {2, 90, "of 90"},
                                          {2, 100, "of 100"}});
  EXPECT_EQ(pick_from_fatbin(fatbin, 90).cubin, "of 90a");
  EXPECT_EQ(pick_from_fatbin(fatbin, 89).cubin, "of 80");
  EXPECT_EQ(pick_from_fatbin(fatbin, 103).cubin, "of 100");
  EXPECT_EQ(pick_from_fatbin(fatbin, 75).found, ImageFound::kNeedsCompiler);
  EXPECT_EQ(pick_from_fatbin(fatbin_file({{2, 80, "x"}}), 90).found, ImageFound::kNone);
  EXPECT_EQ(pick_from_fatbin("short", 90).found, ImageFound::kMalformed);
}

TEST(Images, Lz4_IsDecompressed) {
  // Literals "abc", then nine bytes from three back, then the literal "z".
  const std::string packed(
      "\x35"
      "abc"
      "\x03\x00"
      "\x10"
      "z",
      8);
  const std::string fatbin = fatbin_file({{2, 90, packed, false, 0x2000, 13}});
  const FoundImage found = pick_from_fatbin(fatbin, 90);
  EXPECT_EQ(found.found, ImageFound::kCubin);
  EXPECT_EQ(found.cubin, "abcabcabcabcz");
  std::string out(12, '\0');
  EXPECT_FALSE(decompress_lz4(packed, out)) << "too much";
  const std::string far(
      "\x35"
      "abc"
      "\x04\x00"
      "\x10"
      "z",
      8);
  out.resize(13);
  EXPECT_FALSE(decompress_lz4(far, out)) << "before the beginning";
}

}  // namespace
}  // namespace hone::test
