// Copies and fills.
#include <cstring>
#include <limits>
#include <optional>

#include "record/plan/work.hpp"

namespace hone::record {
namespace {

/// The bytes from the first to the last byte of rows; nullopt if rows overlap or the size overflows.
std::optional<std::uint64_t> extent_of(std::uint64_t bytes, std::uint64_t rows,
                                       std::uint64_t pitch) {
  if (rows <= 1) return bytes;
  if (pitch < bytes || pitch > std::numeric_limits<std::uint64_t>::max() / rows / 2)
    return std::nullopt;
  return (rows - 1) * pitch + bytes;
}

/// The place of `extent` bytes at a device address; nullopt if they do not lie in one memory.
std::optional<recorded::Place> place_of(const Recording& recording, std::uint64_t address,
                                        std::optional<std::uint64_t> extent) {
  const Pointed pointed = recording.memories.point(address);
  if (pointed.at != Pointed::At::kMemory || !extent) return std::nullopt;
  const std::uint64_t bytes = recording.memories.at(pointed.place.memory).bytes;
  if (*extent > bytes - pointed.place.offset) return std::nullopt;
  return pointed.place;
}

/// Moves addresses from a write's bytes to its relocations. False after a problem.
bool find_addresses(Recording& recording, recorded::Write& write) {
  std::string& bytes = write.bytes;
  // Rationale: the destination decides the alignment, because a kernel reads an address there.
  const std::size_t start = (kWord - write.to.offset % kWord) % kWord;
  for (std::size_t at = start; at + kWord <= bytes.size(); at += kWord) {
    if (recording.tensor_maps.find(bytes, at) != nullptr) {
      recording.fail("a tensor map was copied to memory");
      return false;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const Pointed pointed = recording.memories.point(word);
    if (pointed.at == Pointed::At::kElsewhere || pointed.at == Pointed::At::kHostMemory) continue;
    if (pointed.at != Pointed::At::kMemory) {
      recording.fail(pointed.at == Pointed::At::kNoMemory
                         ? "an address outside all memory was copied to memory"
                         : "an address of freed memory was copied to memory");
      return false;
    }
    std::memset(bytes.data() + at, 0, kWord);
    write.addresses.push_back({static_cast<std::uint32_t>(at), pointed.place});
  }
  return true;
}

Status write_from_host(Recording& recording, const CopyRequest& request, std::uint32_t stream) {
  const auto to =
      place_of(recording, request.to, extent_of(request.bytes, request.rows, request.to_pitch));
  if (!to) return kInvalidValue;
  for (std::uint64_t row = 0; row < request.rows; ++row) {
    const auto* from = reinterpret_cast<const char*>(request.from + row * request.from_pitch);
    recorded::Write step;
    step.to = {to->memory, to->offset + row * request.to_pitch};
    if (!recording.problem().empty()) return kOk;  // later steps are dropped
    step.bytes.assign(from, request.bytes);
    if (!find_addresses(recording, step)) return kNotSupported;
    recording.append(stream, std::move(step));
  }
  return kOk;
}

Status copy_on_host(const CopyRequest& request) {
  for (std::uint64_t row = 0; row < request.rows; ++row) {
    std::memmove(reinterpret_cast<void*>(request.to + row * request.to_pitch),
                 reinterpret_cast<const void*>(request.from + row * request.from_pitch),
                 request.bytes);
  }
  return kOk;
}

}  // namespace

Status copy(Recording& recording, const CopyRequest& asked) {
  CopyRequest request = asked;
  const Stream* stream = recording.streams.find(request.stream);
  if (stream == nullptr) return kInvalidHandle;
  if (request.bytes == 0 || request.rows == 0) return kOk;
  const bool is_packed = request.to_pitch == request.bytes && request.from_pitch == request.bytes;
  if (is_packed && request.rows <= std::numeric_limits<std::uint64_t>::max() / request.bytes) {
    request.bytes *= request.rows;
    request.rows = 1;
  }
  const bool to_device = recording.memories.is_device(request.to);
  if (!recording.memories.is_device(request.from))
    return to_device ? write_from_host(recording, request, stream->id) : copy_on_host(request);
  if (!to_device) {
    recording.fail(kReadBack);
    return kNotSupported;
  }
  const auto to =
      place_of(recording, request.to, extent_of(request.bytes, request.rows, request.to_pitch));
  const auto from =
      place_of(recording, request.from, extent_of(request.bytes, request.rows, request.from_pitch));
  if (!to || !from) return kInvalidValue;
  recorded::Copy step{*to, *from, request.bytes, request.rows, 0, 0};
  if (request.rows > 1) step.to_pitch = request.to_pitch, step.from_pitch = request.from_pitch;
  recording.append(stream->id, step);
  return kOk;
}

Status fill(Recording& recording, const FillRequest& asked) {
  FillRequest request = asked;
  const Stream* stream = recording.streams.find(request.stream);
  if (stream == nullptr) return kInvalidHandle;
  if (request.count == 0 || request.rows == 0) return kOk;
  if (request.count > std::numeric_limits<std::uint64_t>::max() / request.width ||
      request.to % request.width != 0)
    return kInvalidValue;
  if (request.rows > 1 && request.pitch == request.count * request.width) {
    request.count *= request.rows;
    request.rows = 1;
  }
  const auto to = place_of(recording, request.to,
                           extent_of(request.count * request.width, request.rows, request.pitch));
  if (!to) return kInvalidValue;
  recording.append(stream->id, recorded::Fill{*to, request.width, request.value, request.count,
                                              request.rows, request.rows > 1 ? request.pitch : 0});
  return kOk;
}

}  // namespace hone::record
