// Checks the bounds of each part, because the file may be damaged.
#include "base/library_symbols.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "base/files.hpp"

namespace hone {
namespace {

constexpr std::size_t kLibraryBytesMax = std::size_t{256} << 20;

/// The part [from, from + size); nullopt: the file is shorter.
std::optional<std::string_view> part_of(std::string_view file, std::uint64_t from,
                                        std::uint64_t size) {
  if (from > file.size() || size > file.size() - from) return std::nullopt;
  return file.substr(from, size);
}

template <typename Header>
std::optional<Header> header_at(std::string_view file, std::uint64_t from) {
  const auto part = part_of(file, from, sizeof(Header));
  if (!part) return std::nullopt;
  Header header;
  std::memcpy(&header, part->data(), sizeof header);
  return header;
}

std::optional<Elf64_Shdr> section(std::string_view file, const Elf64_Ehdr& header,
                                  std::uint64_t number) {
  if (number >= header.e_shnum || header.e_shoff > file.size()) return std::nullopt;
  return header_at<Elf64_Shdr>(file, header.e_shoff + number * sizeof(Elf64_Shdr));
}

/// The names of the symbols that the table defines.
std::set<std::string_view> defined_in(std::string_view table, std::string_view names) {
  std::set<std::string_view> found;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    const Elf64_Sym symbol = *header_at<Elf64_Sym>(table, at);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    const std::string_view rest = names.substr(symbol.st_name);
    found.insert(rest.substr(0, rest.find('\0')));
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> missing_symbols(const std::filesystem::path& library,
                                                 const std::vector<std::string>& names) {
  HONE_ASSIGN(const std::string file, read_file(library, kLibraryBytesMax));
  const auto header = header_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return invalid_argument("it is not a 64-bit ELF file");
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(file, *header, i);
    if (!symbols || symbols->sh_type != SHT_DYNSYM) continue;
    const auto texts = section(file, *header, symbols->sh_link);
    const auto table = part_of(file, symbols->sh_offset, symbols->sh_size);
    const auto strings = texts ? part_of(file, texts->sh_offset, texts->sh_size) : std::nullopt;
    if (!table || !strings) return invalid_argument("its symbol table is damaged");
    const std::set<std::string_view> found = defined_in(*table, *strings);
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      if (found.count(name) == 0) missing.push_back(name);
    }
    return missing;
  }
  return invalid_argument("it has no dynamic symbol table");
}

}  // namespace hone
