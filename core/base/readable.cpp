// Groups digits.
#include "base/readable.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>

namespace hone {

std::string grouped_number(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  if (text.size() - first < 5) return text;
  for (std::size_t at = text.size() - 3; at > first; at -= 3) {
    text.insert(at, 1, ',');
    if (at < first + 3) break;
  }
  return text;
}

std::string readable_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return grouped_number(bytes) + (unit == 0 ? "" : " " + std::string(kUnits[unit]));
}

std::string readable_number(double number) {
  constexpr double kExactMax = 1e15;
  if (std::fabs(number) < kExactMax && number == std::floor(number)) {
    return grouped_number(static_cast<std::int64_t>(number));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string counted_text(std::int64_t count, const std::string& unit) {
  return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
}

}  // namespace hone
