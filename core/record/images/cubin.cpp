// The reader of cubins. The numbers of attributes are those of the section .nv.info, as public
// disassemblers print them (cuobjdump -elf).
#include "record/images/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace hone::record {
namespace {

constexpr std::string_view kText = ".text.", kShared = ".nv.shared.", kInfo = ".nv.info";
constexpr std::string_view kConstantSection = ".nv.constant3";
/// If a cubin has this section, the shared-memory sections of its kernels include the bytes that the system reserves in
/// each block (sm_90 and newer).
constexpr std::string_view kReservedShared = ".nv.shared.reserved.0";
constexpr std::uint64_t kReservedSharedBytes = 1024;
constexpr std::uint32_t kParametersMax = 4096;  // of one kernel; the hardware's limit is 32 KiB
constexpr std::uint32_t kParameterBytesMax = 32764;
constexpr std::size_t kRecordBytes = 4;  // the head of an attribute

/// Where parameters begin in constant bank 0: up to sm_89, and of sm_90. Other architectures encode
/// instructions in another way.
constexpr std::uint32_t kParameterBases[] = {0x160, 0x210};
constexpr std::size_t kInstructionBytes = 16;
constexpr std::uint64_t kIndexedLoad = 0xb82, kNoRegister = 0xff;  // LDC, RZ
constexpr std::uint64_t kUniformLoad = 0xab9;                      // ULDC
constexpr std::uint32_t kReadBytes = 8;  // of instructions that are no loads, at most

enum InfoFormat : unsigned char { kFormatSized = 4 };
enum InfoAttribute : unsigned char {
  kInfoBlockThreadsMax = 0x05,
  kInfoParameterBank = 0x0a,
  kInfoFrameBytes = 0x11,
  kInfoParameter = 0x17,
  kInfoParameterBytes = 0x19,
  kInfoRegisters = 0x2f,
};

/// A copy of the T at `at`; nullopt if the bytes end before.
template <typename T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view piece(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return bytes.substr(at, size);
}

/// A text of a string table, up to its zero.
std::string_view text_at(std::string_view table, std::uint64_t at) {
  if (at >= table.size()) return {};
  const std::string_view rest = table.substr(at);
  return rest.substr(0, rest.find('\0'));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Cubin> read() {
    if (!read_sections()) return std::nullopt;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (name_of(i) == kReservedShared) reserved_shared_bytes_ = kReservedSharedBytes;
      if (const auto name = name_of(i);
          name.substr(0, kText.size()) == kText && name.size() > kText.size())
        cubin_.kernels.try_emplace(std::string(name.substr(kText.size())));
    }
    read_symbols();
    for (std::size_t i = 0; i < sections_.size(); ++i) read_resources(i);
    for (auto& [name, kernel] : cubin_.kernels) finish(kernel);
    for (std::size_t i = 0; i < sections_.size(); ++i) read_code(i);
    return std::move(cubin_);
  }

 private:
  bool read_sections() {
    const auto head = read_at<Elf64_Ehdr>(bytes_, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
      return false;
    for (std::size_t i = 0; i < head->e_shnum; ++i) {
      const auto section = read_at<Elf64_Shdr>(bytes_, head->e_shoff + i * sizeof(Elf64_Shdr));
      if (head->e_shoff > bytes_.size() || !section) return false;
      sections_.push_back(*section);
    }
    if (head->e_shstrndx >= sections_.size()) return false;
    section_names_ = content(head->e_shstrndx);
    return true;
  }

  std::string_view content(std::size_t index) const {
    if (index >= sections_.size() || sections_[index].sh_type == SHT_NOBITS) return {};
    return piece(bytes_, sections_[index].sh_offset, sections_[index].sh_size);
  }
  std::string_view name_of(std::size_t index) const {
    if (index >= sections_.size()) return {};
    return text_at(section_names_, sections_[index].sh_name);
  }

  void read_symbols() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].sh_type != SHT_SYMTAB) continue;
      symbols_ = content(i);
      symbol_names_ = content(sections_[i].sh_link);
    }
    for (std::size_t at = 0; symbols_.size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      const auto symbol = *read_at<Elf64_Sym>(symbols_, at);
      const std::string_view name = text_at(symbol_names_, symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 || name.empty())
        continue;
      cubin_.variables[std::string(name)] = {symbol.st_size,
                                             name_of(symbol.st_shndx) == kConstantSection};
    }
  }

  CubinKernel* kernel_named(std::string_view name) {
    const auto found = cubin_.kernels.find(name);
    return found == cubin_.kernels.end() ? nullptr : &found->second;
  }
  CubinKernel* kernel_of_symbol(std::uint32_t index) {
    const auto symbol = read_at<Elf64_Sym>(symbols_, std::uint64_t{index} * sizeof(Elf64_Sym));
    return symbol ? kernel_named(text_at(symbol_names_, symbol->st_name)) : nullptr;
  }

  void read_resources(std::size_t index) {
    const std::string_view name = name_of(index);
    if (name.substr(0, kShared.size()) == kShared) {
      const std::uint64_t bytes = std::min<std::uint64_t>(sections_[index].sh_size, 1u << 20);
      if (CubinKernel* kernel = kernel_named(name.substr(kShared.size())))
        kernel->shared_bytes =
            static_cast<std::uint32_t>(bytes - std::min(bytes, reserved_shared_bytes_));
    } else if (name == kInfo) {
      read_attributes(content(index), nullptr);
    } else if (name.substr(0, kInfo.size()) == kInfo && name.size() > kInfo.size() + 1) {
      if (CubinKernel* kernel = kernel_named(name.substr(kInfo.size() + 1)))
        read_attributes(content(index), kernel);
    }
  }

  /// `kernel`: null for the attributes of the whole file.
  void read_attributes(std::string_view info, CubinKernel* kernel) {
    while (info.size() >= kRecordBytes) {
      const auto format = static_cast<unsigned char>(info[0]);
      const auto attribute = static_cast<unsigned char>(info[1]);
      const auto value = *read_at<std::uint16_t>(info, 2);
      info.remove_prefix(kRecordBytes);
      if (format != kFormatSized) {
        if (kernel != nullptr && attribute == kInfoParameterBytes) kernel->parameter_bytes = value;
        continue;
      }
      if (value > info.size()) return;
      const std::string_view data = info.substr(0, value);
      info.remove_prefix(value);
      kernel != nullptr ? read_attribute_of(*kernel, attribute, data)
                        : read_attribute_of_file(attribute, data);
    }
  }

  void read_attribute_of(CubinKernel& kernel, unsigned char attribute, std::string_view data) {
    if (attribute == kInfoParameter) {
      const auto ordinal = read_at<std::uint16_t>(data, 4),
                 offset = read_at<std::uint16_t>(data, 6);
      const auto flags = read_at<std::uint32_t>(data, 8);
      if (!flags || *ordinal >= kParametersMax) return;
      if (kernel.parameters.size() <= *ordinal) kernel.parameters.resize(std::size_t{*ordinal} + 1);
      kernel.parameters[*ordinal] = {*offset, *flags >> 18};
    } else if (attribute == kInfoParameterBank) {
      if (const auto base = read_at<std::uint16_t>(data, 4)) parameter_bases_[&kernel] = *base;
    } else if (attribute == kInfoBlockThreadsMax) {
      const auto x = read_at<std::uint32_t>(data, 0), y = read_at<std::uint32_t>(data, 4),
                 z = read_at<std::uint32_t>(data, 8);
      if (z)
        kernel.block_threads_max =
            std::min({*x, 1024u}) * std::min({*y, 1024u}) * std::min({*z, 1024u});
    }
  }

  void read_attribute_of_file(unsigned char attribute, std::string_view data) {
    const auto symbol = read_at<std::uint32_t>(data, 0), value = read_at<std::uint32_t>(data, 4);
    CubinKernel* kernel = value ? kernel_of_symbol(*symbol) : nullptr;
    if (kernel == nullptr) return;
    if (attribute == kInfoRegisters) kernel->registers = std::clamp(*value, 1u, 255u);
    if (attribute == kInfoFrameBytes) kernel->local_bytes = *value;
  }

  void read_code(std::size_t index) {
    const std::string_view name = name_of(index);
    CubinKernel* kernel =
        name.substr(0, kText.size()) == kText ? kernel_named(name.substr(kText.size())) : nullptr;
    const auto base = parameter_bases_.find(kernel);
    if (kernel == nullptr || base == parameter_bases_.end() ||
        std::count(std::begin(kParameterBases), std::end(kParameterBases), base->second) == 0)
      return;
    kernel->named_words.resize(kernel->parameter_bytes / 4 + 1);
    const std::string_view code = content(index);
    for (std::size_t at = 0; code.size() - at >= kInstructionBytes; at += kInstructionBytes)
      mark_named(*kernel, base->second, *read_at<std::uint64_t>(code, at),
                 *read_at<std::uint64_t>(code, at + 8));
  }

  /// The number of bytes that an instruction reads from a constant bank. `high`: the second half of the instruction.
  static std::uint32_t bytes_read(std::uint64_t opcode, std::uint64_t high, std::uint32_t offset) {
    constexpr std::uint64_t kWide = 5, kWidest = 6;  // .64 and .128
    if (opcode == kIndexedLoad || opcode == kUniformLoad) {
      const std::uint64_t width = (high >> 9) & 7;
      return width == kWidest ? 16 : width == kWide ? 8 : 4;
    }
    return offset % kReadBytes == 0 ? kReadBytes : kReadBytes / 2;
  }

  /// Marks the words that an instruction names. Rationale: every instruction is taken to name a
  /// constant bank, because many kinds do, and a word too many is harmless.
  static void mark_named(CubinKernel& kernel, std::uint32_t base, std::uint64_t low,
                         std::uint64_t high) {
    const auto offset = static_cast<std::uint32_t>((low >> 40) & 0x3fff) * 4;
    const std::uint64_t bank = (low >> 54) & 0x1f, opcode = low & 0xfff;
    if (bank != 0 || offset < base) return;
    const bool is_indexed = opcode == kIndexedLoad && ((low >> 24) & 0xff) != kNoRegister;
    const std::size_t begin = (offset - base) / 4, count = kernel.named_words.size();
    const std::size_t end = begin + bytes_read(opcode, high, offset) / 4;
    for (std::size_t word = begin; word < (is_indexed ? count : std::min(end, count)); ++word)
      kernel.named_words[word] = true;
  }

  static void finish(CubinKernel& kernel) {
    constexpr std::uint32_t kRegistersOfBlock = 65536, kWarp = 32, kRegisterUnit = 8;
    std::uint32_t end = 0;
    for (const Parameter& one : kernel.parameters) {
      if (one.offset > kParameterBytesMax || one.bytes > kParameterBytesMax - one.offset) continue;
      end = std::max(end, one.offset + one.bytes);
    }
    std::erase_if(kernel.parameters,
                  [end](const Parameter& p) { return p.bytes > end || p.offset > end - p.bytes; });
    kernel.parameter_bytes = std::min(std::max(kernel.parameter_bytes, end), kParameterBytesMax);
    const std::uint32_t registers =
        (kernel.registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
    kernel.block_threads_max =
        std::min({kernel.block_threads_max, 1024u, kRegistersOfBlock / registers / kWarp * kWarp});
  }

  std::string_view bytes_, section_names_, symbols_, symbol_names_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t reserved_shared_bytes_ = 0;
  Cubin cubin_;
  std::map<const CubinKernel*, std::uint32_t> parameter_bases_;
};

}  // namespace

std::optional<Cubin> read_cubin(std::string_view bytes) { return Reader(bytes).read(); }

std::size_t elf_bytes(const char* start, std::size_t bytes_max) {
  Elf64_Ehdr head;
  std::memcpy(&head, start, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const std::uint64_t sections_end = head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize;
  const std::uint64_t programs_end = head.e_phoff + std::uint64_t{head.e_phnum} * head.e_phentsize;
  if (head.e_shoff > bytes_max || head.e_phoff > bytes_max || sections_end > bytes_max) return 0;
  std::uint64_t end = std::max(sections_end, programs_end);
  for (std::size_t i = 0; head.e_shentsize == sizeof(Elf64_Shdr) && i < head.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, start + head.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > bytes_max || section.sh_size > bytes_max) return 0;
    end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end > bytes_max ? 0 : end;
}

}  // namespace hone::record
