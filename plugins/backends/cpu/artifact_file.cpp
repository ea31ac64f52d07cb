// Looks at files by their descriptors alone.
#include "artifact_file.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace hone_cpu {

bool holds(int fd, uint64_t bytes) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
         static_cast<uint64_t>(about.st_size) >= bytes;
}

std::string unused_path(int fd) {
  static std::atomic<uint32_t> loads{0};
  std::string path = "/proc/self/fd/";
  for (uint32_t left = ++loads; left > 0; left /= 2) path += left % 2 != 0 ? "./" : ".//";
  return path + std::to_string(fd);
}

bool is_whole_library(int fd) {
  Elf64_Ehdr header{};
  if (pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  uint64_t sections_end = 0;
  if (__builtin_add_overflow(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize,
                             &sections_end) ||
      !holds(fd, sections_end)) {
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    uint64_t at = 0, end = 0;
    if (__builtin_add_overflow(header.e_phoff, i * sizeof part, &at) ||
        pread(fd, &part, sizeof part, static_cast<off_t>(at)) !=
            static_cast<ssize_t>(sizeof part) ||
        __builtin_add_overflow(part.p_offset, part.p_filesz, &end) || !holds(fd, end)) {
      return false;
    }
  }
  return true;
}

std::string whole_file(int fd) {
  std::string text;
  char block[65536];
  for (ssize_t n = 0; (n = pread(fd, block, sizeof block, static_cast<off_t>(text.size()))) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  return text;
}

}  // namespace hone_cpu
