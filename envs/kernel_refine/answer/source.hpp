// Reads source code well enough to tell code from comments and strings, and to find the names that it defines.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace hone::kernel_refine {

/// The syntax of comments, strings and definitions. C, C++ and their dialects for devices share one grammar. kNone: any
/// other text.
enum class Grammar { kNone, kC, kPython };

/// The end of the comment or string that begins at `at`, or `at` where none begins there. `begin` is where the source begins.
/// An unclosed comment or string ends with the text.
std::size_t end_of_literal(std::string_view text, std::size_t begin, std::size_t at,
                           Grammar grammar);

/// The source with comments and strings replaced by spaces; same size, same lines. A string keeps its quotes.
std::string without_literals(std::string_view source, Grammar grammar);

/// Whether the source defines `name` for others to call. C: a function with a body, at file scope or in `extern "C"` and
/// namespaces. Python: a function, class, assignment or import of that name.
bool defines(std::string_view source, std::string_view name, Grammar grammar);

/// Functions, types and macros (Python: functions, classes and imports) that a source has at file scope.
std::set<std::string> defined_names(std::string_view source, Grammar grammar);

/// Identifiers that do not follow `.`, `->` or `::`.
std::set<std::string> used_names(std::string_view source, Grammar grammar);

/// Names that a source seems to declare anywhere, parameters and local variables included. It errs towards too many.
std::set<std::string> bound_names(std::string_view source, Grammar grammar);

/// Whether a line is words for a reader: a sentence, a heading, an item of a list.
bool is_prose(std::string_view line);

/// Whether a text may be a bare source: its first line looks like code.
bool begins_like_source(std::string_view text, Grammar grammar);

/// A source up to the next prose. A C source ends with a bracket, a semicolon, a comment or a directive. An unindented line
/// belongs to a Python source if it begins a statement.
std::string without_trailing_prose(std::string_view text, Grammar grammar);

}  // namespace hone::kernel_refine
