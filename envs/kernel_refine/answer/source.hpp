// Reads source code well enough to know what is code in it and which names it defines.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace hone::kernel_refine {

/// How comments, strings and definitions look: C, C++ and their dialects for devices share one grammar. kNone: a text of any other kind.
enum class Grammar { kNone, kC, kPython };

/// The end of the comment or string that begins at `at`, or `at` where none begins there. `begin` is where the source begins.
/// A comment or string that nothing closes ends with the text.
std::size_t end_of_literal(std::string_view text, std::size_t begin, std::size_t at,
                           Grammar grammar);

/// The source with comments and strings replaced by spaces; same size, same lines. A string keeps its quotes.
std::string without_literals(std::string_view source, Grammar grammar);

/// Whether the source defines `name` for others to call. C: a function with a body, at file scope or in `extern "C"` and
/// namespaces. Python: a function, class, assignment or import of that name.
bool defines(std::string_view source, std::string_view name, Grammar grammar);

/// Functions, types and macros (Python: functions, classes and imports) that a source has at file scope.
std::set<std::string> defined_names(std::string_view source, Grammar grammar);

/// Identifiers that stand alone, so not behind `.`, `->` or `::`.
std::set<std::string> used_names(std::string_view source, Grammar grammar);

/// Names that a source seems to declare anywhere, parameters and local variables included: rather too many than too few.
std::set<std::string> bound_names(std::string_view source, Grammar grammar);

/// Whether a response may be nothing but a source: its first line looks like code.
bool begins_like_source(std::string_view text, Grammar grammar);

/// A source up to where prose begins again: C's ends with a bracket, a semicolon, a comment or a directive; of Python's
/// lines that are not indented, those that begin a statement belong to it.
std::string without_trailing_prose(std::string_view text, Grammar grammar);

}  // namespace hone::kernel_refine
