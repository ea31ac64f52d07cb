// Parts of drawings in SVG. Texts that are passed must be escaped (html_text).
#pragma once

#include <string>

namespace hone {

/// A coordinate: "12.3".
std::string svg_number(double value);
/// `look`: the element's class.
std::string svg_line(double x1, double y1, double x2, double y2, const char* look);
/// `anchor`: start, middle or end.
std::string svg_label(double x, double y, const std::string& said, const char* anchor);

}  // namespace hone
