// A lexer that knows comments and strings, and a search for definitions in what it leaves.
#include "kernel_refine/answer/source.hpp"

#include <algorithm>
#include <vector>

#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

std::size_t end_after(std::string_view text, std::string_view what, std::size_t from) {
  const std::size_t at = text.find(what, from);
  return at == std::string_view::npos ? text.size() : at + what.size();
}

/// The end of a string on one line: after its closing quote, or at the line's end if it has none.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\n') return i;
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

/// C's `//` comment goes on after a backslash at the end of a line.
std::size_t end_of_line_comment(std::string_view text, std::size_t at, bool continued) {
  std::size_t end = line_end(text, at);
  while (continued && end < text.size() && text[end - 1] == '\\') end = line_end(text, end + 1);
  return end;
}

/// The end of R"delimiter( … )delimiter" whose R is right before `at`; 0 if there is none.
std::size_t end_of_raw_string(std::string_view text, std::size_t at) {
  constexpr std::size_t kDelimiterMax = 16;  // C++ allows no more
  const std::size_t open = text.substr(0, at + kDelimiterMax + 2).find('(', at);
  if (open == std::string_view::npos) return 0;
  std::string closing = ")";
  closing.append(text.substr(at + 1, open - at - 1));
  return end_after(text, closing + "\"", open);
}

std::size_t end_in_c(std::string_view text, std::size_t begin, std::size_t at) {
  const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '/' && next == '/') return end_of_line_comment(text, at, true);
  if (c == '/' && next == '*') return end_after(text, "*/", at + 2);
  if (c == '"') {
    if (at > begin && text[at - 1] == 'R') {
      const std::size_t end = end_of_raw_string(text, at);
      if (end != 0) return end;
    }
    return end_of_string(text, at);
  }
  if (c == '\'' && !(at > begin && is_digit(text[at - 1])))
    return end_of_string(text, at);  // not 1'000
  return at;
}

std::size_t end_in_python(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '#') return end_of_line_comment(text, at, false);
  if (c != '"' && c != '\'') return at;
  const std::string_view triple = c == '"' ? "\"\"\"" : "'''";
  if (!text.substr(at).starts_with(triple)) return end_of_string(text, at);
  std::size_t i = at + triple.size();
  while (i < text.size() && !text.substr(i).starts_with(triple)) i += text[i] == '\\' ? 2u : 1u;
  return std::min(i + triple.size(), text.size());
}

/// A source without literals as identifiers and single characters.
struct Token {
  std::string_view text;
  bool is_name = false;
};

std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < code.size();) {
    if (is_space(code[at])) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    const bool is_name = is_word(code[at]) && !is_digit(code[at]);
    if (is_word(code[at])) {
      while (end < code.size() && is_word(code[end])) ++end;
    }
    tokens.push_back({code.substr(at, end - at), is_name});
    at = end;
  }
  return tokens;
}

/// The index behind the bracket that closes the one at `at`; tokens.size() where nothing closes it.
std::size_t behind_bracket(const std::vector<Token>& tokens, std::size_t at) {
  const std::string_view open = tokens[at].text, close = open == "("   ? ")"
                                                         : open == "[" ? "]"
                                                                       : "}";
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at].text == open) ++depth;
    if (tokens[at].text == close && --depth == 0) return at + 1;
  }
  return at;
}

/// Whether a function's body follows its parameters; `at` is after their closing bracket.
bool has_body(const std::vector<Token>& tokens, std::size_t at) {
  constexpr int kTokensMax =
      100;  // between parameters and body, brackets with their content as one
  for (int i = 0; i < kTokensMax && at < tokens.size(); ++i) {
    const std::string_view text = tokens[at].text;
    if (text == "{") return true;
    if (text == "(" || text == "[") {  // noexcept(…), [[…]], __attribute__((…))
      at = behind_bracket(tokens, at);
    } else if (tokens[at].is_name || text == "-" || text == ">" || text == "<" || text == ":" ||
               text == "*" || text == "&") {
      ++at;
    } else {
      return false;
    }
  }
  return false;
}

/// With preprocessor directives as spaces, those that a backslash continues included.
std::string without_directives(std::string code) {
  bool continued = false;
  each_line(std::string(code), [&](std::string_view line, std::size_t at) {
    const bool directive = continued || trim(line).starts_with('#');
    continued = directive && trim(line).ends_with('\\');
    if (directive) std::fill_n(code.begin() + static_cast<std::ptrdiff_t>(at), line.size(), ' ');
    return true;
  });
  return code;
}

/// Calls visit(name) for each function with a body and type at file scope; a visit that returns false ends it.
template <typename Visit>
void visit_c(std::string_view source, Visit visit) {
  const std::string code = without_directives(std::string(source));
  const std::vector<Token> tokens = tokens_of(code);
  std::size_t statement = 0;  // where the present one begins
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view text = tokens[at].text;
    if (text == ";" || text == "}") {
      statement = at + 1;
    } else if (text == "{") {
      const std::string_view first = tokens[statement].text;
      const bool linkage = first == "extern" && at == statement + 3;  // extern " "
      const bool is_open = linkage || first == "namespace" ||
                           (first == "inline" && tokens[statement + 1].text == "namespace");
      if (!is_open) at = behind_bracket(tokens, at) - 1;
      statement = at + 1;
    } else if (text == "(" && at > statement && tokens[at - 1].is_name) {
      const std::size_t behind = behind_bracket(tokens, at);
      if (has_body(tokens, behind) && !visit(tokens[at - 1].text)) return;
      at = behind - 1;
    } else if (text == "(") {
      at = behind_bracket(tokens, at) - 1;
    } else if ((text == "struct" || text == "class" || text == "union" || text == "enum" ||
                text == "using") &&
               at + 2 < tokens.size() && tokens[at + 1].is_name) {
      const std::string_view after = tokens[at + 2].text;
      if ((after == "{" || after == ":" || after == "=") && !visit(tokens[at + 1].text)) return;
    }
  }
}

/// The text after `keyword` and white space; empty if the line does not begin with the keyword.
std::string_view after_keyword(std::string_view line, std::string_view keyword) {
  if (!line.starts_with(keyword) || line.size() == keyword.size() ||
      !is_space(line[keyword.size()]))
    return {};
  return trim(line.substr(keyword.size()));
}

std::string_view first_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

/// Names that an import binds: of "a.b as c, d" c and d.
template <typename Visit>
bool visit_imported(std::string_view names, Visit visit) {
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    std::string_view one = trim(names.substr(at, end - at));
    while (!one.empty() && (one.front() == '(' || is_space(one.front()))) one.remove_prefix(1);
    const std::size_t as = one.find(" as ");
    const std::string_view name =
        first_name(as == std::string_view::npos ? one : trim(one.substr(as + 4)));
    if (!name.empty() && !visit(name)) return false;
    at = end + 1;
  }
  return true;
}

enum class Bindings {
  kAll,
  kDefinitions
};  // kDefinitions: functions, classes and imports of the module's own

/// Calls visit(name) for what a Python source without literals binds.
template <typename Visit>
void visit_python(std::string_view code, Bindings which, Visit visit) {
  each_line(code, [&](std::string_view raw, std::size_t) {
    const std::string_view line = trim(raw);
    if (line.empty() || (which == Bindings::kDefinitions && is_space(raw.front()))) return true;
    for (const std::string_view keyword : {"class", "def"}) {
      const std::string_view rest = after_keyword(line, keyword);
      const std::string_view name = first_name(rest), after = trim(rest.substr(name.size()));
      const bool is_definition =
          after.starts_with(':') || after.starts_with('(') || after.starts_with('[');
      if (!rest.empty()) return !is_definition || visit(name);
    }
    const std::string_view coroutine = after_keyword(line, "async");
    if (!coroutine.empty()) return visit(first_name(after_keyword(coroutine, "def")));
    const std::string_view imported = after_keyword(line, "import");
    if (!imported.empty()) return visit_imported(imported, visit);
    if (!after_keyword(line, "from").empty()) {
      const std::size_t names = line.find(" import ");
      return names == std::string_view::npos || visit_imported(line.substr(names + 8), visit);
    }
    if (which == Bindings::kDefinitions) return true;
    const std::string_view name = first_name(line);
    const std::string_view after = trim(line.substr(name.size()));
    const bool assigned = (after.starts_with('=') && !after.starts_with("==")) ||
                          (after.starts_with(':') && after.find('=') != std::string_view::npos);
    return name.empty() || !assigned || visit(name);
  });
}

}  // namespace

std::size_t end_of_literal(std::string_view text, std::size_t begin, std::size_t at,
                           Grammar grammar) {
  switch (grammar) {
    case Grammar::kC:
      return end_in_c(text, begin, at);
    case Grammar::kPython:
      return end_in_python(text, at);
    case Grammar::kNone:
      break;
  }
  return at;
}

std::string without_literals(std::string_view source, Grammar grammar) {
  std::string code(source);
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = end_of_literal(source, 0, at, grammar);
    for (std::size_t i = at; i < end; ++i) {
      const bool is_quote = source[at] == '"' && (i == at || i + 1 == end);
      if (code[i] != '\n' && !is_quote) code[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return code;
}

bool defines(std::string_view source, std::string_view name, Grammar grammar) {
  if (grammar == Grammar::kNone || source.find(name) == std::string_view::npos) return false;
  const std::string code = without_literals(source, grammar);
  bool found = false;
  const auto visit = [&](std::string_view defined) {
    found = found || defined == name;
    return !found;
  };
  if (grammar == Grammar::kC) {
    visit_c(code, visit);
  } else {
    visit_python(code, Bindings::kAll, visit);
  }
  return found;
}

std::set<std::string> defined_names(std::string_view source, Grammar grammar) {
  std::set<std::string> names;
  const std::string code = without_literals(source, grammar);
  const auto visit = [&](std::string_view name) {
    names.emplace(name);
    return true;
  };
  if (grammar == Grammar::kPython) visit_python(code, Bindings::kDefinitions, visit);
  if (grammar != Grammar::kC) return names;
  visit_c(code, visit);
  each_line(code, [&](std::string_view line, std::size_t) {
    const std::string_view rest = trim(line);
    if (!rest.starts_with('#')) return true;
    const std::string_view macro = after_keyword(trim(rest.substr(1)), "define");
    if (!macro.empty()) names.emplace(first_name(macro));
    return true;
  });
  return names;
}

std::set<std::string> used_names(std::string_view source, Grammar grammar) {
  const std::string code = without_literals(source, grammar);
  const std::vector<Token> tokens = tokens_of(code);
  std::set<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_name) continue;
    const std::string_view before = i > 0 ? tokens[i - 1].text : std::string_view();
    const bool arrow =
        before == ">" && i > 1 && tokens[i - 2].text == "-" && grammar == Grammar::kC;
    const bool scope =
        before == ":" && i > 1 && tokens[i - 2].text == ":" && grammar == Grammar::kC;
    if (before != "." && !arrow && !scope) names.emplace(tokens[i].text);
  }
  return names;
}

std::set<std::string> bound_names(std::string_view source, Grammar grammar) {
  const std::string code = without_literals(source, grammar);
  std::set<std::string> names;
  if (grammar == Grammar::kPython) {
    visit_python(code, Bindings::kAll, [&](std::string_view name) {
      names.emplace(name);
      return true;
    });
  }
  const std::vector<Token> tokens = tokens_of(code);
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const std::string_view before = tokens[i - 1].text, after = tokens[i + 1].text;
    if (grammar == Grammar::kPython && tokens[i].text == "(" && i > 1 &&
        tokens[i - 2].text == "def") {
      const std::size_t behind = behind_bracket(tokens, i);
      if (behind == tokens.size() && tokens.back().text != ")") break;  // nothing closes it
      for (std::size_t j = i; j < behind; ++j) names.emplace(tokens[j].text);
    } else if (grammar == Grammar::kPython && tokens[i].is_name &&
               (before == "for" || before == "as" || before == "lambda")) {
      names.emplace(tokens[i].text);
    } else if (grammar == Grammar::kC && tokens[i].is_name &&
               std::string_view(",)=;[({:").find(after) != std::string_view::npos &&
               (tokens[i - 1].is_name || before == "*" || before == "&" || before == ">") &&
               before != "return") {
      names.emplace(tokens[i].text);
    }
  }
  return names;
}

}  // namespace hone::kernel_refine
