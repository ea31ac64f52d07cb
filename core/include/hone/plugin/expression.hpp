// evaluate_expression(): integer expressions over dimension names ("ceil_div(n, 4)"), in checked arithmetic.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/plugin/failure.hpp"
#include "hone/plugin/reader.hpp"

namespace hone::plugin {

/// Values of a task's dimensions, by name.
using Extents = std::map<std::string, std::int64_t, std::less<>>;

/// A recursive-descent parser that evaluates while it parses. Depth is bounded; every operation is checked.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const Extents& dims) : text_(text), dims_(dims) {}

  std::int64_t whole() {
    const std::int64_t value = sum();
    skip_space();
    if (at_ != text_.size()) mistake("unexpected '" + std::string(1, text_[at_]) + "'");
    return value;
  }

 private:
  [[noreturn]] void mistake(const std::string& what) const {
    invalid_argument("expression '" + std::string(text_) + "', column " + std::to_string(at_ + 1) +
                     ": " + what);
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::int64_t combine(char op, std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(a, b, &out);
    if (op == '-') overflow = __builtin_sub_overflow(a, b, &out);
    if (op == '*') overflow = __builtin_mul_overflow(a, b, &out);
    if (op == '/' || op == '%') {
      if (b == 0) mistake("division by zero");
      if (a == std::numeric_limits<std::int64_t>::min() && b == -1)
        overflow = true;
      else
        out = op == '/' ? a / b : a % b;
    }
    if (overflow) mistake("overflow");
    return out;
  }

  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      const char op = accept('+') ? '+' : accept('-') ? '-' : '\0';
      if (op == '\0') return value;
      const std::int64_t right = product();
      value = combine(op, value, right);
    }
  }

  std::int64_t product() {
    std::int64_t value = atom();
    for (;;) {
      const char op = accept('*') ? '*' : accept('/') ? '/' : accept('%') ? '%' : '\0';
      if (op == '\0') return value;
      const std::int64_t right = atom();
      value = combine(op, value, right);
    }
  }

  std::int64_t atom() {
    if (++depth_ > 64) mistake("nested too deeply");
    skip_space();
    std::int64_t value = atom_at();
    --depth_;
    return value;
  }

  std::int64_t atom_at() {
    if (accept('(')) {
      const std::int64_t value = sum();
      if (!accept(')')) mistake("expected ')'");
      return value;
    }
    if (accept('-')) {
      const std::int64_t value = atom();
      return combine('-', 0, value);
    }
    if (at_ >= text_.size()) mistake("unexpected end");
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (std::isalpha(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_') return named();
    mistake("unexpected '" + std::string(1, text_[at_]) + "'");
  }

  std::int64_t number() {
    std::int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = combine('*', value, 10);
      value = combine('+', value, text_[at_] - '0');
      ++at_;
    }
    return value;
  }

  std::int64_t named() {
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view name = text_.substr(start, at_ - start);
    if (accept('(')) return call(name);
    if (const auto found = dims_.find(name); found != dims_.end()) return found->second;
    std::vector<std::string> valid{"min", "max", "ceil_div"};
    for (const auto& [dim, ignored] : dims_) valid.push_back(dim);
    mistake(unknown_name("name", name, valid));
  }

  std::int64_t call(std::string_view name) {
    const std::int64_t a = sum();
    if (!accept(',')) mistake("expected ','");
    const std::int64_t b = sum();
    if (!accept(')')) mistake("expected ')'");
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name != "ceil_div") mistake("no function '" + std::string(name) + "'");
    if (b <= 0) mistake("ceil_div by " + std::to_string(b));
    const std::int64_t raised = combine('+', a, b - 1);
    return raised / b;
  }

  std::string_view text_;
  const Extents& dims_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Evaluates + - * / % ( ) min(a,b) max(a,b) ceil_div(a,b) over integers and dimension names. Division rounds
/// towards zero. Overflow, division by zero, unknown names and trailing text are HONE_INVALID_ARGUMENT with the
/// column.
///
///   evaluate_expression("ceil_div(n, 256)", {{"n", 1000}});   // 4
inline std::int64_t evaluate_expression(std::string_view text, const Extents& dims) {
  return ExpressionReader(text, dims).whole();
}

}  // namespace hone::plugin
