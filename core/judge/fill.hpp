// Fills tensors with secret, reproducible data: the same seed gives the same bytes on every
// machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/task.hpp"

namespace hone {

/// A seed derived from a master seed: SHA-256 over master and label. Without the master, seeds of different labels cannot be
/// related.
std::uint64_t derive_seed(std::uint64_t master, std::string_view label, std::uint64_t a = 0,
                          std::uint64_t b = 0, std::uint64_t c = 0);

/// Writes `count` elements. The kinds and their parameters a and b are those of docs/tasks-reference.md.
void fill_tensor(void* to, DType dtype, std::uint64_t count, const Generator& generator,
                 std::uint64_t seed);

/// A secret pattern over an arena: poison for outputs, canaries around payloads. The byte at a
/// place depends on the seed and the place alone. Writes, or checks, [from, to).
void write_pattern(char* base, std::uint64_t from, std::uint64_t to, std::uint64_t seed);
bool pattern_stands(const char* base, std::uint64_t from, std::uint64_t to, std::uint64_t seed);

/// A number in [low, high), and an integer in [low, high].
double draw(std::uint64_t seed, double low, double high);
std::int64_t draw_integer(std::uint64_t seed, std::int64_t low, std::int64_t high);

}  // namespace hone
