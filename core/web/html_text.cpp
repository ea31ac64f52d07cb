// Escapes text for HTML, and rounds numbers.
#include "web/html_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/utf8.hpp"

namespace hone {
namespace {

constexpr const char* kDash = "–";

struct Range {
  std::uint32_t first, last;
};
/// Unicode 15: categories Cc (but tab and line feed), Cf, Zl and Zp, and the property Default_Ignorable_Code_Point.
constexpr Range kHidden[] = {
    {0x0, 0x8},         {0xb, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},
    {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff}};

bool is_hidden(std::uint32_t point) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

std::size_t character_bytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

std::uint32_t point_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  std::uint32_t point = character.size() == 1 ? first : first & (0xffu >> (character.size() + 1));
  for (const char c : character.substr(1))
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return point;
}

std::string escaped(std::string_view character) {
  switch (character.front()) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      break;
  }
  const std::uint32_t point = point_of(character);
  if (!is_hidden(point)) return std::string(character);
  char name[32];
  std::snprintf(name, sizeof name, "⟨U+%04X⟩", point);
  return name;
}

std::string formatted(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

}  // namespace

std::string html_text(std::string_view text) { return html_cut(text, text.size()); }

std::string html_cut(std::string_view text, std::size_t characters) {
  const std::string valid = valid_utf8(text);
  std::string html;
  std::size_t shown = 0;
  for (std::size_t at = 0; at < valid.size(); ++shown) {
    const std::size_t size = character_bytes(static_cast<unsigned char>(valid[at]));
    if (shown + 1 == characters && at + size < valid.size()) return html + "…";
    html += escaped(std::string_view(valid).substr(at, size));
    at += size;
  }
  return html;
}

std::string figure_text(double number) {
  if (!std::isfinite(number)) return kDash;
  const double size = std::fabs(number);
  if (number != 0 && (size >= 1e6 || size < 1e-3)) return formatted("%.1e", number);
  return formatted(size >= 1000 ? "%.6g" : "%.3g", number);
}

std::string percent_text(double share) {
  if (!std::isfinite(share)) return kDash;
  return formatted(share > 0 && share < 0.1 ? "%.1f" : "%.0f", 100 * share) + " %";
}

std::string times_text(double ratio) {
  if (!std::isfinite(ratio)) return kDash;
  return formatted(ratio >= 100 ? "%.0f" : ratio >= 10 ? "%.1f" : "%.2f", ratio) + "×";
}

}  // namespace hone
