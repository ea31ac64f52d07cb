// Makes cubins and fat binaries for tests: no compiler of device code is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::test {

struct CubinVariableText {
  std::string name;
  std::uint64_t bytes;
  bool is_constant;
};

struct CubinText {
  std::string kernel = "kernel";
  std::vector<std::uint32_t> parameter_bytes = {8, 8, 4};  ///< each at its natural alignment
  std::uint32_t registers = 32, shared_bytes = 0;
  std::vector<CubinVariableText> variables = {};
  std::string code = std::string(64, '\0');
  bool reserves_shared =
      false;  ///< as compiled for sm_90: `shared_bytes` includes the reserved KiB
};

/// An ELF file with one kernel.
std::string cubin_file(const CubinText& text = {});

struct FatbinEntry {
  std::uint16_t kind;  ///< 1: PTX, 2: a cubin
  std::uint32_t architecture;
  std::string content;
  bool is_accelerated = false;
  std::uint64_t compression = 0;  ///< the flag
  std::uint64_t uncompressed_bytes = 0;
};
std::string fatbin_file(const std::vector<FatbinEntry>& entries);

}  // namespace hone::test
