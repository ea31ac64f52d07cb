// Rows of 32 bytes at an even distance, from a secret place on.
#include "judge/witness.hpp"

#include <algorithm>
#include <cstring>

#include "plugin/call.hpp"

namespace hone {
namespace {

// Rationale: the least that a device reads. With rows of 128 bytes a read took 30 to 60 µs, by their place, and not the same for
// both sides of a pair; with 32 bytes it takes 19 to 21 µs.
constexpr std::uint64_t kRow = 32;
constexpr std::uint64_t kRowsMax = 8192;

}  // namespace

Result<WitnessArea> WitnessArea::create(const Backend& backend, hone_device* device) {
  hone_error error = empty_error();
  void* memory = nullptr;
  if (backend.factory()->pin_memory(device, kRow * kRowsMax, &memory, &error) != HONE_OK)
    return Error{static_cast<Code>(error.code), std::string("pin memory: ") + error.message};
  WitnessArea area;
  area.memory_ = static_cast<char*>(memory);
  return area;
}

void Witness::aim(const Arena& arena, const Layout& layout, std::uint64_t secret) {
  arena_ = &arena;
  seen_.clear();
  const std::uint64_t lines = (layout.outputs_end - layout.outputs_begin) / kRow;
  rows_ = std::min(lines, kRowsMax);
  if (rows_ == 0) return;
  const std::uint64_t step = lines / rows_;
  pitch_ = step * kRow;
  // Every place between two rows is as likely as the other, also beyond the last one.
  const std::uint64_t free = lines - (rows_ - 1) * step;
  at_ = layout.outputs_begin + secret % free * kRow;
}

Status Witness::read(const Arena& arena) {
  hone_error error = empty_error();
  if (backend_.factory()->read_rows(arena.buffer(), at_ - arena.origin(), pitch_, kRow, rows_,
                                    area_.memory(), &error) != HONE_OK) {
    return Error{static_cast<Code>(error.code), std::string("read outputs: ") + error.message};
  }
  return {};
}

Result<std::string> Witness::read_rows() {
  HONE_TRY(read());
  return std::string(area_.memory(), rows_ * kRow);
}

void Witness::keep() { seen_.assign(area_.memory(), area_.memory() + rows_ * kRow); }

Result<bool> Witness::is_unchanged(const Arena& arena) {
  if (rows_ == 0) return true;
  HONE_TRY(read(arena));
  return std::memcmp(seen_.data(), area_.memory(), seen_.size()) == 0;
}

}  // namespace hone
