// The reader of fat binaries and their compressions.
#include "record/images/fatbin.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "hone/recorded_plan.hpp"
#include "record/images/cubin.hpp"

namespace hone::record {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1, kFatbinMagic = 0xba55ed50;
constexpr std::size_t kImageBytesMax = static_cast<std::size_t>(recorded::kImageBytesMax);
constexpr std::size_t kFatbinBytesMax = std::size_t{1} << 30;

struct FatbinHead {
  std::uint32_t magic;
  std::uint16_t version, head_bytes;
  std::uint64_t bytes;
};

/// The beginning of an entry; its head may be longer.
struct EntryHead {
  std::uint16_t kind, version;
  std::uint32_t head_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, unknown_1;
  std::uint32_t unknown_2, architecture;
  std::uint64_t unknown_3, flags, unknown_4, uncompressed_bytes;
};
static_assert(sizeof(EntryHead) == 64);

enum EntryKind : std::uint16_t { kKindText = 1, kKindCubin = 2 };
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagAccelerated = 0x100000;  // for one architecture only: "sm_90a"

struct Entry {
  EntryHead head;
  std::string_view content;
};

bool is_compressed(const Entry& entry) { return (entry.head.flags & (kFlagLz4 | kFlagZstd)) != 0; }

/// Higher is better; nothing for an entry that does not run on `architecture`.
std::optional<int> preference(const EntryHead& entry, int architecture) {
  const int of_entry = static_cast<int>(entry.architecture);
  if (entry.kind != kKindCubin || entry.architecture > 1000) return std::nullopt;
  if ((entry.flags & kFlagAccelerated) != 0)
    return of_entry == architecture ? std::optional<int>(2 * of_entry + 1) : std::nullopt;
  if (of_entry / 10 != architecture / 10 || of_entry > architecture) return std::nullopt;
  return 2 * of_entry;
}

using ZstdDecompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);

/// Rationale: systems have the library but seldom its header, and only some images need it.
ZstdDecompress zstd_decompress() {
  static const auto kFunction = [] {
    void* library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<ZstdDecompress>(
        library == nullptr ? nullptr : ::dlsym(library, "ZSTD_decompress"));
  }();
  return kFunction;
}

FoundImage extract(const Entry& entry) {
  const EntryHead& head = entry.head;
  if (!is_compressed(entry)) return {ImageFound::kCubin, std::string(entry.content)};
  if (head.uncompressed_bytes > kImageBytesMax || head.compressed_bytes > entry.content.size())
    return {ImageFound::kMalformed, {}};
  const std::string_view packed = entry.content.substr(0, head.compressed_bytes);
  std::string cubin(head.uncompressed_bytes, '\0');
  if ((head.flags & kFlagZstd) != 0) {
    const ZstdDecompress decompress = zstd_decompress();
    if (decompress == nullptr) return {ImageFound::kNoDecompressor, {}};
    if (decompress(cubin.data(), cubin.size(), packed.data(), packed.size()) != cubin.size())
      return {ImageFound::kMalformed, {}};
  } else if (!decompress_lz4(packed, cubin)) {
    return {ImageFound::kMalformed, {}};
  }
  return {ImageFound::kCubin, std::move(cubin)};
}

/// Reads the length that follows a token's nibble of 15.
bool add_length(std::string_view& in, std::size_t& length) {
  unsigned char byte = 255;
  while (byte == 255) {
    if (in.empty()) return false;
    byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    length += byte;
  }
  return true;
}

}  // namespace

bool decompress_lz4(std::string_view in, std::string& out) {
  constexpr std::size_t kLong = 15, kMatchMin = 4;
  std::size_t at = 0;
  while (!in.empty()) {
    const auto token = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    std::size_t literals = token >> 4u, match = (token & 15u);
    if (literals == kLong && !add_length(in, literals)) return false;
    if (literals > in.size() || literals > out.size() - at) return false;
    std::memcpy(out.data() + at, in.data(), literals);
    at += literals;
    in.remove_prefix(literals);
    if (in.empty()) break;
    if (in.size() < 2) return false;
    const std::size_t distance = static_cast<unsigned char>(in[0]) +
                                 256u * static_cast<std::size_t>(static_cast<unsigned char>(in[1]));
    in.remove_prefix(2);
    if (match == kLong && !add_length(in, match)) return false;
    match += kMatchMin;
    if (distance == 0 || distance > at || match > out.size() - at) return false;
    for (; match > 0; --match, ++at) out[at] = out[at - distance];
  }
  return at == out.size();
}

FoundImage pick_from_fatbin(std::string_view fatbin, int architecture) {
  FatbinHead head;
  if (fatbin.size() < sizeof head) return {ImageFound::kMalformed, {}};
  std::memcpy(&head, fatbin.data(), sizeof head);
  if (head.magic != kFatbinMagic || head.head_bytes < sizeof head ||
      head.head_bytes > fatbin.size())
    return {ImageFound::kMalformed, {}};
  std::string_view rest = fatbin.substr(head.head_bytes);
  if (head.bytes < rest.size()) rest = rest.substr(0, head.bytes);
  std::optional<Entry> best;
  int best_preference = -1;
  bool has_text = false;
  while (rest.size() >= sizeof(EntryHead)) {
    Entry entry;
    std::memcpy(&entry.head, rest.data(), sizeof entry.head);
    if (entry.head.head_bytes < sizeof entry.head || entry.head.head_bytes > rest.size() ||
        entry.head.bytes > rest.size() - entry.head.head_bytes)
      return {ImageFound::kMalformed, {}};
    entry.content = rest.substr(entry.head.head_bytes, entry.head.bytes);
    rest.remove_prefix(entry.head.head_bytes + entry.head.bytes);
    has_text = has_text || entry.head.kind == kKindText;
    const auto preferred = preference(entry.head, architecture);
    if (preferred && *preferred > best_preference) best = entry, best_preference = *preferred;
  }
  if (best) return extract(*best);
  return {has_text ? ImageFound::kNeedsCompiler : ImageFound::kNone, {}};
}

FoundImage find_image(const void* image, int architecture) {
  const char* start = static_cast<const char*>(image);
  std::uint32_t magic = 0;
  std::memcpy(&magic, start, sizeof magic);
  if (magic == kWrapperMagic) {
    std::memcpy(&start, start + 8, sizeof start);
    std::memcpy(&magic, start, sizeof magic);
  }
  if (magic == kFatbinMagic) {
    FatbinHead head;
    std::memcpy(&head, start, sizeof head);
    if (head.bytes > kFatbinBytesMax) return {ImageFound::kMalformed, {}};
    return pick_from_fatbin({start, head.head_bytes + head.bytes}, architecture);
  }
  if (std::memcmp(start, "\177ELF", 4) == 0) {
    const std::size_t bytes = elf_bytes(start, kImageBytesMax);
    if (bytes == 0) return {ImageFound::kMalformed, {}};
    return {ImageFound::kCubin, std::string(start, bytes)};
  }
  return {ImageFound::kNeedsCompiler, {}};
}

}  // namespace hone::record
