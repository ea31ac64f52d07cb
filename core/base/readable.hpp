// Numbers as people write them, for help and error messages.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

/// "1,000,000"; below ten thousand "9999".
std::string grouped_number(std::int64_t number);
/// An exact number of KiB, MiB, … or PiB, "64 MiB"; else grouped_number().
std::string readable_bytes(std::int64_t bytes);
/// "86,400", "0.1", "1e+300": grouped where it is an integer of up to 15 digits.
std::string readable_number(double number);

/// "1 task", "2 tasks".
std::string counted_text(std::int64_t count, const std::string& unit);

}  // namespace hone
