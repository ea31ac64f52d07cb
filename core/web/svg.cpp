#include "web/svg.hpp"

#include <cstdio>

namespace hone {

std::string svg_number(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f", value);
  return digits;
}

std::string svg_line(double x1, double y1, double x2, double y2, const char* look) {
  return "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" +
         svg_number(x2) + "\" y2=\"" + svg_number(y2) + "\" class=\"" + look + "\"/>";
}

std::string svg_label(double x, double y, const std::string& said, const char* anchor) {
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) +
         "\" class=\"label\" text-anchor=\"" + anchor + "\">" + said + "</text>";
}

}  // namespace hone
