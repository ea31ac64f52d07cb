// The format: https://sqlite.org/fileformat2.html#walformat.
#include "journal/wal_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <vector>

#include "journal/database.hpp"

namespace hone {
namespace {

constexpr std::size_t kHeader = 32, kFrameHeader = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // the last bit: checksum words are big-endian
constexpr int kLooks = 3;

using Byte = unsigned char;

std::uint32_t big_endian(const Byte* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
         std::uint32_t{at[3]};
}
std::uint32_t little_endian(const Byte* at) {
  return std::uint32_t{at[3]} << 24 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[1]} << 8 |
         std::uint32_t{at[0]};
}

struct Sums {
  std::uint32_t a = 0, b = 0;
  bool operator==(const Sums&) const = default;

  void add(const Byte* bytes, std::size_t size, bool is_big) {
    for (std::size_t i = 0; i + 8 <= size; i += 8) {
      a += (is_big ? big_endian(bytes + i) : little_endian(bytes + i)) + b;
      b += (is_big ? big_endian(bytes + i + 4) : little_endian(bytes + i + 4)) + a;
    }
  }
};

struct Look {
  std::uint64_t spoilt = 0;   ///< the first damaged frame, from 1; 0: none
  std::uint64_t commits = 0;  ///< commits after that frame
  std::array<Byte, 8> salts{};
};

Look look_at(const std::filesystem::path& wal) {
  Look look;
  std::ifstream file(wal, std::ios::binary);
  std::array<Byte, kHeader> header{};
  const auto read = [&](Byte* to, std::size_t size) {
    return static_cast<bool>(
        file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(size)));
  };
  if (!read(header.data(), kHeader)) return look;
  const std::uint32_t magic = big_endian(header.data()), page = big_endian(header.data() + 8);
  if ((magic & ~1u) != kMagic || page < 512 || page > 65536) return look;
  const bool is_big = (magic & 1) != 0;
  std::copy_n(header.begin() + 16, look.salts.size(), look.salts.begin());
  Sums sums;
  sums.add(header.data(), 24, is_big);
  if (sums != Sums{big_endian(header.data() + 24), big_endian(header.data() + 28)}) look.spoilt = 1;
  std::vector<Byte> frame(kFrameHeader + page);
  for (std::uint64_t number = 1; read(frame.data(), frame.size()); ++number) {
    const bool is_ours = std::equal(look.salts.begin(), look.salts.end(), frame.begin() + 8);
    const bool ends = is_ours && big_endian(frame.data() + 4) != 0;
    if (look.spoilt != 0) {
      look.commits += ends;
      continue;
    }
    sums.add(frame.data(), 8, is_big);
    sums.add(frame.data() + kFrameHeader, page, is_big);
    const Sums stored{big_endian(frame.data() + 16), big_endian(frame.data() + 20)};
    if (is_ours && stored == sums) continue;
    look.spoilt = number;
    look.commits += ends;
  }
  return look;
}

}  // namespace

std::string lost_in_wal(const std::filesystem::path& database) {
  std::filesystem::path wal = std::filesystem::weakly_canonical(database);
  wal += "-wal";
  const Look look = look_at(wal);
  if (look.commits < 2) return "";
  // A server that is writing completes each frame before it writes the next one.
  for (int i = 1; i < kLooks; ++i) {
    const Look again = look_at(wal);
    if (again.spoilt != look.spoilt || again.salts != look.salts) return "";
  }
  return "its write-ahead log is damaged at frame " + std::to_string(look.spoilt) + ", and " +
         std::to_string(look.commits) + " transactions from there on would be lost";
}

Status expect_whole_wal(const std::filesystem::path& database) {
  const std::string lost = lost_in_wal(database);
  if (lost.empty()) return {};
  return damaged_journal("it is damaged: " + lost +
                         "; restore a backup, or remove the -wal file to continue without them");
}

}  // namespace hone
