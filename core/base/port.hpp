// Ports in addresses.
#pragma once

#include <optional>
#include <string>

namespace hone {

/// The number of a port: one to five digits, 0 to 65535; nullopt for any other text.
inline std::optional<unsigned long> port_number(const std::string& text) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != text.npos)
    return std::nullopt;
  const unsigned long number = std::stoul(text);
  return number <= 65535 ? std::optional(number) : std::nullopt;
}

}  // namespace hone
