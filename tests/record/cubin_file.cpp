// The writer of test cubins.
#include "cubin_file.hpp"

#include <elf.h>

#include <cstring>

namespace hone::test {
namespace {

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An attribute of .nv.info with its own bytes.
void put_attribute(std::string& out, std::uint8_t attribute, const std::string& data) {
  put<std::uint8_t>(out, 4);
  put(out, attribute);
  put(out, static_cast<std::uint16_t>(data.size()));
  out += data;
}

struct Section {
  std::string name, content;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t bytes = 0;  // of a section without content
};

std::string parameters_info(const CubinText& text) {
  std::string info;
  std::uint32_t offset = 0;
  for (std::uint16_t i = 0; i < text.parameter_bytes.size(); ++i) {
    const std::uint32_t bytes = text.parameter_bytes[i], alignment = bytes < 8 ? bytes : 8;
    offset = (offset + alignment - 1) / alignment * alignment;
    std::string data;
    put<std::uint32_t>(data, 0);
    put(data, i);
    put(data, static_cast<std::uint16_t>(offset));
    put(data, bytes << 18);
    put_attribute(info, 0x17, data);
    offset += bytes;
  }
  std::string bank;
  put<std::uint32_t>(bank, 1);
  put<std::uint16_t>(bank, 0x210);
  put(bank, static_cast<std::uint16_t>(offset));
  put_attribute(info, 0x0a, bank);
  return info;
}

}  // namespace

std::string cubin_file(const CubinText& text) {
  std::string names(1, '\0'), symbols(sizeof(Elf64_Sym), '\0');
  const auto add_symbol = [&](const std::string& name, unsigned char type, std::uint16_t section,
                              std::uint64_t bytes) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
    symbol.st_shndx = section;
    symbol.st_size = bytes;
    names += name + '\0';
    put(symbols, symbol);
  };
  // 1: code, 2: constants, 3: other variables
  add_symbol(text.kernel, STT_FUNC, 1, text.code.size());
  for (const CubinVariableText& one : text.variables)
    add_symbol(one.name, STT_OBJECT, one.is_constant ? 2 : 3, one.bytes);
  std::string info, registers;
  put<std::uint32_t>(registers, 1);
  put(registers, text.registers);
  put_attribute(info, 0x2f, registers);
  std::vector<Section> sections = {{"", "", SHT_NULL, 0},
                                   {".text." + text.kernel, text.code},
                                   {".nv.constant3", std::string(64, '\0')},
                                   {".nv.global", "", SHT_NOBITS, 64},
                                   {".nv.info", info},
                                   {".nv.info." + text.kernel, parameters_info(text)},
                                   {".symtab", symbols, SHT_SYMTAB, 0},
                                   {".strtab", names, SHT_STRTAB, 0}};
  if (text.shared_bytes > 0)
    sections.push_back({".nv.shared." + text.kernel, "", SHT_NOBITS, text.shared_bytes});
  if (text.reserves_shared) sections.push_back({".nv.shared.reserved.0", "", SHT_NOBITS, 0});
  sections.push_back({".shstrtab", "", SHT_STRTAB, 0});
  std::string section_names;
  for (const Section& one : sections) section_names += one.name + '\0';
  sections.back().content = section_names;

  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<Elf64_Half>(sections.size());
  head.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  std::string content, table;
  std::size_t name_at = 0;
  for (const Section& one : sections) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(name_at);
    section.sh_type = one.type;
    section.sh_offset = sizeof head + content.size();
    section.sh_size = one.type == SHT_NOBITS ? one.bytes : one.content.size();
    section.sh_link = 7;
    content += one.content;
    name_at += one.name.size() + 1;
    put(table, section);
  }
  head.e_shoff = sizeof head + content.size();
  std::string file;
  put(file, head);
  return file + content + table;
}

std::string fatbin_file(const std::vector<FatbinEntry>& entries) {
  std::string body;
  for (const FatbinEntry& one : entries) {
    put(body, one.kind);
    put<std::uint16_t>(body, 0);
    put<std::uint32_t>(body, 64);
    put<std::uint64_t>(body, one.content.size());
    put(body, static_cast<std::uint32_t>(one.compression != 0 ? one.content.size() : 0));
    put<std::uint32_t>(body, 0);
    put<std::uint32_t>(body, 0);
    put(body, one.architecture);
    put<std::uint64_t>(body, 0);
    put(body, one.compression | (one.is_accelerated ? 0x100000u : 0u));
    put<std::uint64_t>(body, 0);
    put(body, one.uncompressed_bytes);
    body += one.content;
  }
  std::string file;
  put<std::uint32_t>(file, 0xba55ed50);
  put<std::uint16_t>(file, 1);
  put<std::uint16_t>(file, 16);
  put<std::uint64_t>(file, body.size());
  return file + body;
}

}  // namespace hone::test
