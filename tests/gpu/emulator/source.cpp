// A scanner for the tokens of CUDA C++.
#include "source.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <sstream>

namespace hone_emulated {
namespace {

enum class Kind { kWord, kString, kOther };

struct Token {
  Kind kind;
  std::size_t at;
  std::string_view text;
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of the quoted text that begins at `at`.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// The end of the raw string whose quote is at `at`: R"mark( ... )mark".
std::size_t end_of_raw(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

/// Where the comment at `at` ends; `at` where there is none.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    if (const std::size_t end = end_of_comment(text, at); end != at) {
      at = end;
      continue;
    }
    std::size_t end = at + 1;
    Kind kind = Kind::kOther;
    if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
      kind = Kind::kWord;
      if (end < text.size() && text[end] == '"' && text[end - 1] == 'R') {
        end = end_of_raw(text, end);
        kind = Kind::kString;
      }
    } else if (text[at] == '"' || text[at] == '\'') {
      end = end_of_quoted(text, at);
      kind = Kind::kString;
    }
    tokens.push_back({kind, at, text.substr(at, end - at)});
    at = end;
  }
  return tokens;
}

/// A replacement of text[at, at + size).
struct Edit {
  std::size_t at;
  std::size_t size;
  std::string text;
};

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "extern")) dynamic_shared(i);
      if (is(i, "__shared__")) static_shared(i);
      if (is(i, "asm") || is(i, "__asm__") || is(i, "__asm")) inline_ptx(i);
    }
    return applied();
  }

 private:
  bool is(std::size_t i, std::string_view word) const {
    return i < tokens_.size() && tokens_[i].text == word;
  }

  /// The token after the brackets that open at `i`, or the end.
  std::size_t past_brackets(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      const std::string_view word = tokens_[i].text;
      if (word == "(" || word == "[" || word == "{") ++depth;
      if ((word == ")" || word == "]" || word == "}") && --depth == 0) return i + 1;
    }
    return i;
  }

  void remove(std::size_t i) { replace(i, ""); }
  void replace(std::size_t i, std::string text) {
    edits_.push_back({tokens_[i].at, tokens_[i].text.size(), std::move(text)});
  }

  /// extern __shared__ T name[];  becomes  T* const name = hone_emulated_dynamic_shared{};
  void dynamic_shared(std::size_t i) {
    std::optional<std::size_t> shared;
    std::size_t open = i + 1;
    for (; open < tokens_.size() && !is(open, "[") && !is(open, ";") && !is(open, "{"); ++open) {
      if (is(open, "__shared__")) shared = open;
      if (is(open, "(")) open = past_brackets(open) - 1;
    }
    if (!shared || !is(open, "[") || !is(open + 1, "]") || !is(open + 2, ";")) return;
    remove(i);
    remove(*shared);
    replace(open - 1, "* const " + std::string(tokens_[open - 1].text));
    replace(open, " = hone_emulated_dynamic_shared{}");
    remove(open + 1);
  }

  /// The macro says `static` already.
  void static_shared(std::size_t i) {
    for (std::size_t near : {i - 1, i + 1}) {
      if (near < tokens_.size() && is(near, "static")) remove(near);
    }
  }

  /// asm volatile("text" : "=l"(a) : "r"(b) : "memory");  becomes  hone_emulated_ptx("text" , (a) , (b));
  void inline_ptx(std::size_t i) {
    std::size_t open = i + 1;
    while (is(open, "volatile") || is(open, "__volatile__")) ++open;
    if (!is(open, "(")) return;
    const std::size_t end = past_brackets(open) - 1;
    replace(i, "hone_emulated_ptx");
    for (std::size_t k = i + 1; k < open; ++k) remove(k);
    std::size_t k = open + 1;
    while (k < end && tokens_[k].kind == Kind::kString) ++k;
    bool first_of_operand = false;
    for (; k < end; ++k) {
      if (is(k, ":") || is(k, ",")) {
        remove(k);
        first_of_operand = true;
      } else if (tokens_[k].kind == Kind::kString) {
        // A constraint before its operand; a clobber has none.
        replace(k, first_of_operand && is(k + 1, "(") ? "," : "");
      } else if (is(k, "(")) {
        k = past_brackets(k) - 1;
        first_of_operand = false;
      }
    }
  }

  std::string applied() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.at < b.at; });
    std::string out;
    std::size_t done = 0;
    for (const Edit& edit : edits_) {
      if (edit.at < done) continue;  // the same word, twice
      out.append(text_.substr(done, edit.at - done));
      // Lines stay where they are.
      const std::string_view old = text_.substr(edit.at, edit.size);
      out += edit.text;
      out.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
      done = edit.at + edit.size;
    }
    out.append(text_.substr(done));
    return out;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
};

/// The function's name in `__global__ attributes... void attributes... name(`; empty where none follows.
std::string name_after(const std::vector<Token>& tokens, std::size_t i) {
  for (++i; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == ";" || tokens[i].text == "{") break;
    if (tokens[i].kind != Kind::kWord || tokens[i + 1].text != "(") continue;
    if (tokens[i].text.substr(0, 2) != "__") return std::string(tokens[i].text);
    int depth = 0;  // __launch_bounds__(...)
    for (++i; i < tokens.size(); ++i) {
      if (tokens[i].text == "(") ++depth;
      if (tokens[i].text == ")" && --depth == 0) break;
    }
  }
  return {};
}

}  // namespace

std::string rewrite(std::string_view text) { return Rewriter(text).run(); }

std::vector<KernelName> find_kernels(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<KernelName> found;
  int depth = 0;
  int c_block = -1;  // the depth inside extern "C" { }
  bool is_template = false;
  bool is_c = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (word == "template") is_template = true;
    if (word == "\"C\"" && i > 0 && tokens[i - 1].text == "extern") {
      is_c = true;
      if (i + 1 < tokens.size() && tokens[i + 1].text == "{") c_block = depth + 1;
    }
    if (word == "__global__" && !is_template) {
      const std::string name = name_after(tokens, i);
      const bool c_linkage = is_c || (c_block >= 0 && depth >= c_block);
      if (!name.empty()) found.push_back({name, c_linkage});
    }
    if (word == "{") ++depth;
    if (word == "}" && --depth < c_block) c_block = -1;
    if (word == "{" || word == "}" || word == ";") is_template = is_c = false;
  }
  return found;
}

std::string nvrtc_words(std::string_view words, std::string_view program) {
  std::istringstream lines{std::string(words)};
  std::string out;
  int errors = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(": In function ") != std::string::npos) continue;
    for (const char* severity : {": fatal error: ", ": error: ", ": warning: ", ": note: "}) {
      const std::size_t at = line.find(severity);
      if (at == std::string::npos) continue;
      const bool error = std::string_view(severity).find("error") != std::string_view::npos;
      if (error) ++errors;
      // file:line:column, from the right
      std::size_t column = line.rfind(':', at - 1);
      if (column == std::string::npos || column == 0) break;
      const std::size_t number = line.rfind(':', column - 1);
      const auto digits = [&](std::size_t from, std::size_t to) {
        return from < to && std::all_of(line.begin() + static_cast<std::ptrdiff_t>(from),
                                        line.begin() + static_cast<std::ptrdiff_t>(to),
                                        [](char c) { return std::isdigit(c) != 0; });
      };
      if (number == std::string::npos || !digits(number + 1, column)) break;
      line = line.substr(0, number) + "(" + line.substr(number + 1, column - number - 1) + ")" +
             (error ? ": error: " : severity) + line.substr(at + std::string_view(severity).size());
      break;
    }
    out += line + "\n";
  }
  if (errors > 0) {
    out += "\n" + std::to_string(errors) + (errors == 1 ? " error" : " errors") +
           " detected in the compilation of \"" + std::string(program) + "\".\n";
  }
  return out;
}

}  // namespace hone_emulated
