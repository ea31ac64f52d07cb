// Walks the dynamic symbols and relocations, with every offset checked.
#include "vendor/hip_code_object.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "hone/plugin/failure.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;

constexpr std::uint32_t kRelocationAbsolute = 3;   // R_AMDGPU_ABS64: a symbol's address
constexpr std::uint32_t kRelocationRelative = 13;  // R_AMDGPU_RELATIVE64: an offset in the image

template <typename T>
T read_at(std::string_view image, std::uint64_t at) {
  T value;
  if (at > image.size() || sizeof value > image.size() - at) {
    fail(HONE_INVALID_ARGUMENT, "code object: cut short");
  }
  std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

template <typename T>
std::vector<T> read_table(std::string_view image, const Elf64_Shdr& section) {
  std::vector<T> table;
  for (std::uint64_t at = 0; at + sizeof(T) <= section.sh_size; at += sizeof(T)) {
    table.push_back(read_at<T>(image, section.sh_offset + at));
  }
  return table;
}

std::string name_at(std::string_view image, const Elf64_Shdr& names, std::uint64_t at) {
  const std::uint64_t start = names.sh_offset + at;
  if (start > image.size()) fail(HONE_INVALID_ARGUMENT, "code object: cut short");
  const std::string_view rest = image.substr(start);
  return std::string(rest.substr(0, rest.find('\0')));
}

struct Tables {
  Elf64_Shdr names{};
  std::vector<Elf64_Sym> symbols;
  std::vector<Elf64_Rela> relocations;
};

Tables read_tables(std::string_view image) {
  const auto header = read_at<Elf64_Ehdr>(image, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    fail(HONE_INVALID_ARGUMENT, "code object: no ELF file of 64 bits");
  }
  std::vector<Elf64_Shdr> sections;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    sections.push_back(read_at<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr)));
  }
  Tables tables;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNSYM && section.sh_link < sections.size()) {
      tables.names = sections[section.sh_link];
      tables.symbols = read_table<Elf64_Sym>(image, section);
    } else if (section.sh_type == SHT_RELA) {
      for (const auto& one : read_table<Elf64_Rela>(image, section)) {
        tables.relocations.push_back(one);
      }
    }
  }
  return tables;
}

}  // namespace

std::string pointed_at(std::string_view image, std::string_view variable) {
  const Tables tables = read_tables(image);
  const auto name_of = [&](const Elf64_Sym& symbol) {
    return name_at(image, tables.names, symbol.st_name);
  };
  std::optional<std::uint64_t> where;
  for (const Elf64_Sym& symbol : tables.symbols) {
    if (name_of(symbol) == variable) where = symbol.st_value;
  }
  for (const Elf64_Rela& relocation : tables.relocations) {
    if (!where || relocation.r_offset != *where) continue;
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    const std::uint64_t index = ELF64_R_SYM(relocation.r_info);
    if (type == kRelocationAbsolute && index < tables.symbols.size()) {
      return name_of(tables.symbols[index]);
    }
    if (type != kRelocationRelative) continue;
    for (const Elf64_Sym& symbol : tables.symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
          symbol.st_value == static_cast<std::uint64_t>(relocation.r_addend)) {
        return name_of(symbol);
      }
    }
  }
  fail(HONE_INVALID_ARGUMENT,
       "code object: no function that " + std::string(variable) + " points at");
}

}  // namespace hone_gpu
