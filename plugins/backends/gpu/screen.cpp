// Reads a source as the preprocessor does, as far as its directives go.
#include "screen.hpp"

#include <algorithm>
#include <cctype>

namespace hone_gpu {
namespace {

constexpr std::size_t kEntryMax = 256;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Walks over a source: joins lines at backslashes, drops comments, and knows what is inside a
/// literal.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) { skip_joins(); }

  bool done() const { return at_ >= text_.size(); }
  int line() const { return line_; }
  char look() const { return done() ? '\0' : text_[at_]; }
  bool starts(std::string_view words) const {
    Walk ahead = *this;
    for (const char c : words) {
      if (ahead.look() != c) return false;
      ahead.next();
    }
    return true;
  }
  char next() {
    const char c = look();
    if (c == '\n') ++line_;
    ++at_;
    skip_joins();
    return c;
  }
  void skip(std::size_t count) {
    for (std::size_t i = 0; i < count && !done(); ++i) next();
  }
  /// Blanks and comments, up to the end of the line.
  void skip_blanks() {
    for (;;) {
      if (look() == ' ' || look() == '\t' || look() == '\r' || look() == '\f' || look() == '\v') {
        next();
      } else if (!skip_comment()) {
        return;
      }
    }
  }
  bool skip_comment() {
    if (starts("//")) {
      while (!done() && look() != '\n') next();
      return true;
    }
    if (!starts("/*")) return false;
    skip(2);
    while (!done() && !starts("*/")) next();
    skip(2);
    return true;
  }
  /// From an opening quote to behind the closing one; a literal ends with its line at the latest.
  void skip_literal() {
    const char quote = next();
    while (!done() && look() != '\n') {
      const char c = next();
      if (c == '\\') next();
      if (c == quote) return;
    }
  }
  /// From the quote of R"tag( to behind )tag". Inside, a backslash joins no lines.
  void skip_raw_literal() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return skip_literal();
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t found = text_.find(end, open);
    const std::size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
    skip_joins();
  }
  std::string word() {
    std::string found;
    while (is_word(look())) found += next();
    return found;
  }
  std::string rest_of_line() {
    std::string found;
    while (!done() && look() != '\n') {
      if (skip_comment()) continue;
      found += next();
    }
    while (!found.empty() && std::isspace(static_cast<unsigned char>(found.back())))
      found.pop_back();
    return found;
  }

 private:
  void skip_joins() {
    for (;;) {
      // Rationale: compilers also join where blanks follow the backslash.
      std::size_t end = at_ + 1;
      if (done() || text_[at_] != '\\') return;
      while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t' || text_[end] == '\r'))
        ++end;
      if (end >= text_.size() || text_[end] != '\n') return;
      ++line_;
      at_ = end + 1;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

std::string include_trouble(const std::string& target) {
  const bool quoted = target.size() > 2 && target.front() == '"' && target.back() == '"';
  const bool angled = target.size() > 2 && target.front() == '<' && target.back() == '>';
  if (!quoted && !angled) return "#include of what is no plain name in quotes or <>";
  const std::string path = target.substr(1, target.size() - 2);
  if (path.front() == '/') return "#include of an absolute path";
  if (path.find("..") != std::string::npos) return "#include of a path that goes up";
  if (path.find('\\') != std::string::npos) return "#include of a path with a backslash";
  return {};
}

std::string directive_trouble(Walk& walk) {
  walk.skip_blanks();
  const std::string name = walk.word();
  if (name == "include") {
    walk.skip_blanks();
    return include_trouble(walk.rest_of_line());
  }
  for (const char* refused : {"include_next", "import", "embed"}) {
    if (name == refused) return "#" + name;
  }
  return {};
}

/// Whether the word that ends before a quote makes the literal a raw one.
bool is_raw_prefix(const std::string& word) {
  return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
}

}  // namespace

std::string screen(std::string_view name, std::string_view text) {
  Walk walk(text);
  bool at_start = true;  // of a line, but for blanks
  while (!walk.done()) {
    walk.skip_blanks();
    const int line = walk.line();
    const char c = walk.look();
    const std::size_t mark = c == '#' ? 1 : walk.starts("%:") ? 2 : 0;
    if (c == '\n') {
      walk.next();
      at_start = true;
      continue;
    }
    if (at_start && mark != 0) {
      walk.skip(mark);
      const std::string trouble = directive_trouble(walk);
      if (!trouble.empty()) {
        return std::string(name) + ":" + std::to_string(line) +
               ": error: device code may not use " + trouble;
      }
    } else if (is_word(c)) {
      // A number's separators are part of it; all else between quotes is a literal.
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      std::string word = walk.word();
      while (number && walk.look() == '\'') {
        walk.next();
        word += walk.word();
      }
      if (walk.look() == '"' && is_raw_prefix(word)) walk.skip_raw_literal();
    } else if (c == '"' || c == '\'') {
      walk.skip_literal();
    } else if (!walk.done()) {
      walk.next();
    }
    at_start = false;
  }
  return {};
}

std::string screen_entry(std::string_view entry) {
  if (entry.empty()) return "an empty name";
  if (entry.size() > kEntryMax) return "a name of " + std::to_string(entry.size()) + " characters";
  for (const char c : entry) {
    if (is_word(c) || std::string_view(" <>,:()*&+-./").find(c) != std::string_view::npos) continue;
    return std::string("a name with the character '") + c + "'";
  }
  return {};
}

}  // namespace hone_gpu
