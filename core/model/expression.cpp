// A recursive-descent parser that evaluates while it parses. Depth is bounded; every operation is checked.
#include "model/expression.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <vector>

#include "base/nearest.hpp"

namespace hone {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const Dims& dims) : text_(text), dims_(dims) {}

  Result<std::int64_t> whole() {
    HONE_ASSIGN(const std::int64_t value, sum());
    skip_space();
    if (at_ != text_.size()) return mistake("unexpected '" + std::string(1, text_[at_]) + "'");
    return value;
  }

 private:
  Error mistake(const std::string& what) const {
    return invalid_argument("expression '" + std::string(text_) + "', column " +
                            std::to_string(at_ + 1) + ": " + what);
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

  Result<std::int64_t> combine(char op, std::int64_t a, std::int64_t b) const {
    std::int64_t out = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(a, b, &out);
    if (op == '-') overflow = __builtin_sub_overflow(a, b, &out);
    if (op == '*') overflow = __builtin_mul_overflow(a, b, &out);
    if (op == '/' || op == '%') {
      if (b == 0) return mistake("division by zero");
      if (a == std::numeric_limits<std::int64_t>::min() && b == -1)
        overflow = true;
      else
        out = op == '/' ? a / b : a % b;
    }
    if (overflow) return mistake("overflow");
    return out;
  }

  Result<std::int64_t> sum() {
    HONE_ASSIGN(std::int64_t value, product());
    for (;;) {
      const char op = accept('+') ? '+' : accept('-') ? '-' : '\0';
      if (op == '\0') return value;
      HONE_ASSIGN(const std::int64_t right, product());
      HONE_ASSIGN(value, combine(op, value, right));
    }
  }

  Result<std::int64_t> product() {
    HONE_ASSIGN(std::int64_t value, atom());
    for (;;) {
      const char op = accept('*') ? '*' : accept('/') ? '/' : accept('%') ? '%' : '\0';
      if (op == '\0') return value;
      HONE_ASSIGN(const std::int64_t right, atom());
      HONE_ASSIGN(value, combine(op, value, right));
    }
  }

  Result<std::int64_t> atom() {
    if (++depth_ > 64) return mistake("nested too deeply");
    skip_space();
    Result<std::int64_t> value = atom_at();
    --depth_;
    return value;
  }

  Result<std::int64_t> atom_at() {
    if (accept('(')) {
      HONE_ASSIGN(const std::int64_t value, sum());
      if (!accept(')')) return mistake("expected ')'");
      return value;
    }
    if (accept('-')) {
      HONE_ASSIGN(const std::int64_t value, atom());
      return combine('-', 0, value);
    }
    if (at_ >= text_.size()) return mistake("unexpected end");
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (std::isalpha(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_') return named();
    return mistake("unexpected '" + std::string(1, text_[at_]) + "'");
  }

  Result<std::int64_t> number() {
    std::int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      HONE_ASSIGN(value, combine('*', value, 10));
      HONE_ASSIGN(value, combine('+', value, text_[at_] - '0'));
      ++at_;
    }
    return value;
  }

  Result<std::int64_t> named() {
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
    return mistake(unknown_name("name", name, valid));
  }

  Result<std::int64_t> call(std::string_view name) {
    HONE_ASSIGN(const std::int64_t a, sum());
    if (!accept(',')) return mistake("expected ','");
    HONE_ASSIGN(const std::int64_t b, sum());
    if (!accept(')')) return mistake("expected ')'");
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name != "ceil_div") return mistake("no function '" + std::string(name) + "'");
    if (b <= 0) return mistake("ceil_div by " + std::to_string(b));
    HONE_ASSIGN(const std::int64_t raised, combine('+', a, b - 1));
    return raised / b;
  }

  std::string_view text_;
  const Dims& dims_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::int64_t> evaluate_expression(std::string_view text, const Dims& dims) {
  return Reader(text, dims).whole();
}

}  // namespace hone
