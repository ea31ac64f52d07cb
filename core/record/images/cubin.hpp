// Reads a cubin (an ELF file of device code): its kernels, their parameters and resources, and its
// variables. Every offset is checked: the bytes may be anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::record {

struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
};

struct CubinKernel {
  std::vector<Parameter> parameters;  ///< in order
  std::uint32_t parameter_bytes = 0;
  std::uint32_t registers = 32;
  std::uint32_t block_threads_max = 1024;
  std::uint32_t shared_bytes = 0;  ///< static, without the bytes that the system reserves
  std::uint32_t local_bytes = 0;
  /// For each 4-byte word of the parameters: whether an instruction names it. Empty: unknown.
  /// Rationale: struct members that a program never sets differ between equal launches. A kernel may
  /// also read a parameter by its address; such reads are not found.
  std::vector<bool> named_words;
};

struct CubinVariable {
  std::uint64_t bytes = 0;
  bool is_constant = false;  ///< device code cannot write it
};

struct Cubin {
  std::map<std::string, CubinKernel, std::less<>> kernels;
  std::map<std::string, CubinVariable, std::less<>> variables;
};

/// nullopt if the bytes are not a cubin.
std::optional<Cubin> read_cubin(std::string_view bytes);

/// The size of the ELF file that starts at `start`, from its headers; 0 if it is not one or is larger
/// than `bytes_max`. For functions of the driver that get an image without its size.
std::size_t elf_bytes(const char* start, std::size_t bytes_max);

}  // namespace hone::record
