// Rows of 128 bytes at an even distance, from a secret place on.
#include "judge/witness.hpp"

#include <algorithm>
#include <cstring>

namespace hone {
namespace {

constexpr std::uint64_t kRow = 128;
constexpr std::uint64_t kRowsMax = 8192;

}  // namespace

Result<std::unique_ptr<Witness>> Witness::create(const Backend& backend, hone_device* device) {
  std::unique_ptr<Witness> witness(new Witness(backend));
  hone_error error{};
  error.struct_size = sizeof error;
  for (char** place : {&witness->seen_, &witness->again_}) {
    void* memory = nullptr;
    if (backend.factory()->pin_memory(device, kRow * kRowsMax, &memory, &error) != HONE_OK)
      return Error{static_cast<Code>(error.code), std::string("pin memory: ") + error.message};
    *place = static_cast<char*>(memory);
  }
  return witness;
}

void Witness::aim(const Arena& arena, const Layout& layout, std::uint64_t secret) {
  arena_ = &arena;
  const std::uint64_t lines = (layout.outputs_end - layout.outputs_begin) / kRow;
  rows_ = std::min(lines, kRowsMax);
  if (rows_ == 0) return;
  const std::uint64_t step = lines / rows_;
  pitch_ = step * kRow;
  // Every place between two rows is as likely as the other, also beyond the last one.
  const std::uint64_t free = lines - (rows_ - 1) * step;
  at_ = layout.outputs_begin + secret % free * kRow;
}

Status Witness::read(char* to) {
  if (rows_ == 0) return {};
  hone_error error{};
  error.struct_size = sizeof error;
  if (backend_.factory()->read_rows(arena_->buffer(), at_, pitch_, kRow, rows_, to, &error) !=
      HONE_OK) {
    return Error{static_cast<Code>(error.code), std::string("read outputs: ") + error.message};
  }
  return {};
}

Status Witness::look() { return read(seen_); }

Result<bool> Witness::settled() {
  HONE_TRY(read(again_));
  return std::memcmp(seen_, again_, rows_ * kRow) == 0;
}

}  // namespace hone
