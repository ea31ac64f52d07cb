// A recursive-descent reader of JSON.
#include "record/plan/json.hpp"

#include <charconv>
#include <limits>
#include <string>

#include "hone/plugin/failure.hpp"

namespace hone::record {
namespace {

using plugin::Value;

constexpr int kDepthMax = 32;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  Value read() {
    Value value = read_value(0);
    skip_space();
    if (!rest_.empty()) refuse("text after the value");
    return value;
  }

 private:
  [[noreturn]] static void refuse(const char* what) {
    plugin::fail(HONE_INVALID_ARGUMENT, std::string("JSON: ") + what);
  }

  void skip_space() {
    const std::size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(at, rest_.size()));
  }
  bool take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(char mark) {
    skip_space();
    if (!take({&mark, 1})) refuse("a mark is missing");
  }

  Value read_value(int depth) {
    if (depth > kDepthMax) refuse("nested too deep");
    skip_space();
    if (rest_.empty()) refuse("no value");
    if (rest_.front() == '{') return read_map(depth);
    if (rest_.front() == '[') return read_array(depth);
    if (rest_.front() == '"') return Value(read_text());
    if (take("null")) return {};
    if (take("true")) return Value(true);
    if (take("false")) return Value(false);
    if (take("NaN")) return Value(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Value(std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return Value(-std::numeric_limits<double>::infinity());
    return read_number();
  }

  Value read_map(int depth) {
    Value map = Value::map();
    expect('{');
    skip_space();
    if (take("}")) return map;
    while (true) {
      skip_space();
      std::string key = read_text();
      expect(':');
      map.set(key, read_value(depth + 1));
      skip_space();
      if (take("}")) return map;
      expect(',');
    }
  }

  Value read_array(int depth) {
    Value array = Value::array();
    expect('[');
    skip_space();
    if (take("]")) return array;
    while (true) {
      array.push(read_value(depth + 1));
      skip_space();
      if (take("]")) return array;
      expect(',');
    }
  }

  Value read_number() {
    const std::size_t size = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const std::string_view digits = rest_.substr(0, size);
    const char* const end = digits.data() + size;
    rest_.remove_prefix(size);
    std::int64_t integer = 0;
    if (const auto read = std::from_chars(digits.data(), end, integer);
        read.ec == std::errc() && read.ptr == end)
      return Value(integer);
    double number = 0;
    const auto read = std::from_chars(digits.data(), end, number);
    if (size == 0 || read.ec != std::errc() || read.ptr != end) refuse("not a number");
    return Value(number);
  }

  std::string read_text() {
    if (!take("\"")) refuse("a text is missing");
    std::string text;
    while (true) {
      if (rest_.empty()) refuse("a text without its end");
      const char next = rest_.front();
      rest_.remove_prefix(1);
      if (next == '"') return text;
      if (next == '\\') {
        read_escape(text);
      } else {
        text += next;
      }
    }
  }

  void read_escape(std::string& text) {
    constexpr std::string_view kMarks = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) refuse("a text without its end");
    const char mark = rest_.front();
    rest_.remove_prefix(1);
    if (const std::size_t at = kMarks.find(mark); at != std::string_view::npos) {
      text += kMeanings[at];
      return;
    }
    unsigned code = 0;
    if (mark != 'u' || rest_.size() < 4) refuse("an unknown escape");
    const auto read = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
    if (read.ptr != rest_.data() + 4) refuse("an unknown escape");
    rest_.remove_prefix(4);
    append_utf8(text, code);
  }

  /// A surrogate becomes three bytes of its own: names of operators have none.
  static void append_utf8(std::string& text, unsigned code) {
    if (code < 0x80) {
      text += static_cast<char>(code);
      return;
    }
    if (code < 0x800) {
      text += static_cast<char>(0xC0u | (code >> 6u));
    } else {
      text += static_cast<char>(0xE0u | (code >> 12u));
      text += static_cast<char>(0x80u | ((code >> 6u) & 0x3Fu));
    }
    text += static_cast<char>(0x80u | (code & 0x3Fu));
  }

  std::string_view rest_;
};

}  // namespace

Value read_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace hone::record
