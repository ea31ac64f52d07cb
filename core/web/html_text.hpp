// Text and numbers as the web page shows them (core/web/page/app.js).
#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Untrusted text for the content or a quoted attribute of an HTML element. Characters that hide or reorder text become
/// "⟨U+202E⟩", as in visible() of app.js.
std::string html_text(std::string_view text);
/// At most `characters` characters of the text, the last one "…" if there are more; escaped as html_text().
std::string html_cut(std::string_view text, std::size_t characters);

/// "0.123", "1234", "1.2e-05"; "–" for NaN and infinities.
std::string figure_text(double number);
/// "33 %", "3.3 %"
std::string percent_text(double share);
/// "1.94×"
std::string times_text(double ratio);

}  // namespace hone
