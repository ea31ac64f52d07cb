// A report of journals as one HTML file.
#pragma once

#include <string>

#include "model/value.hpp"

namespace hone {

/// A page without scripts that loads nothing; its Content-Security-Policy forbids both. All texts of a journal are hostile,
/// so they are escaped (html_text.hpp). `report`: the result of report_of() (report_figures.hpp).
std::string report_html(const Value& report);

}  // namespace hone
