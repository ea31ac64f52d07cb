// The one file that includes yaml-cpp: its events become a Value, so that no alias or tag is ever
// expanded.
#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "base/utf8.hpp"

namespace hone {
namespace {

/// Length of a quotation in a message (bytes).
constexpr std::size_t kQuotedMax = 256;

/// Leaves yaml-cpp's parser from inside an event; caught in parse_yaml.
struct Refused : std::runtime_error {
  Refused(int at_line, const std::string& message) : std::runtime_error(message), line(at_line) {}
  int line;
};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "12", "-0x1f", "+3": whether it has the form of an integer, and its base and digits.
bool split_integer(std::string_view text, bool& negative, int& base, std::string_view& digits) {
  negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  base = 10;
  digits = text;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
    base = text[1] == 'x' ? 16 : 8;
    digits = text.substr(2);
    return digits.find_first_not_of(base == 16 ? "0123456789abcdefABCDEF" : "01234567") ==
           std::string_view::npos;
  }
  return is_digits(digits);
}

bool has_float_form(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::size_t e = text.find_first_of("eE");
  std::string_view mantissa = text.substr(0, e);
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (!exponent.empty() && (exponent.front() == '-' || exponent.front() == '+')) {
      exponent.remove_prefix(1);
    }
    if (!is_digits(exponent)) return false;
  }
  const std::size_t dot = mantissa.find('.');
  if (dot == std::string_view::npos) return e != std::string_view::npos && is_digits(mantissa);
  const std::string_view whole = mantissa.substr(0, dot), part = mantissa.substr(dot + 1);
  return (whole.empty() || is_digits(whole)) && (part.empty() || is_digits(part)) &&
         (!whole.empty() || !part.empty());
}

/// A plain scalar by the core schema of YAML 1.2: "yes" and "on" are text.
Value plain_scalar(const std::string& text, int line) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  bool negative = false;
  int base = 10;
  std::string_view digits;
  if (split_integer(text, negative, base, digits)) {
    std::uint64_t magnitude = 0;
    const auto parsed =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    const std::uint64_t limit =
        std::uint64_t{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
    if (parsed.ec != std::errc() || magnitude > limit) {
      throw Refused(line, "integer " + cut_middle(text, kQuotedMax) + " does not fit into 64 bits");
    }
    return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  }
  const std::string_view unsigned_text =
      std::string_view(text).substr(text.front() == '-' || text.front() == '+' ? 1 : 0);
  if (unsigned_text == ".inf" || unsigned_text == ".Inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    return text.front() == '-' ? -infinity : infinity;
  }
  if (text == ".nan" || text == ".NaN") return std::nan("");
  if (has_float_form(text)) {
    double number = 0;
    const char* const first = text.data() + (text.front() == '+' ? 1 : 0);
    const auto parsed = std::from_chars(first, text.data() + text.size(), number);
    if (parsed.ec != std::errc())
      throw Refused(line, "number " + cut_middle(text, kQuotedMax) + " is out of range");
    return number;
  }
  return text;
}

/// Builds the document from events. The stack holds the open maps and lists, outermost first.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const YamlLimits& limits) : limits_(limits) {}

  YamlDocument document;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    take(Value(), mark, true);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused(line_of(mark), "aliases (*name) are not allowed; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    // Rationale: yaml-cpp decodes some escapes ("\\_") to invalid UTF-8.
    if (find_invalid_utf8(text) != std::string::npos) {
      throw Refused(line_of(mark), "an escape sequence that is not valid UTF-8");
    }
    const bool key_next = !open_.empty() && open_.back().value.is_map() && !open_.back().has_key;
    // "?" marks a plain scalar, "!" a quoted or block one, which is always text.
    take(key_next || tag == "!" ? Value(text) : plain_scalar(text, line_of(mark)), mark, false);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(Value::array(), mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(Value::map(), mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Value value;
    std::string pointer;
    std::string key;
    bool has_key = false;
  };

  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0)
      throw Refused(line_of(mark), "anchors (&name) are not allowed; write the value out");
  }
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Refused(line_of(mark),
                    "tag " + cut_middle(tag, kQuotedMax) + " is not allowed; use plain data");
    }
  }

  void count(const YAML::Mark& mark) {
    if (++values_ > limits_.values_max) {
      throw Refused(line_of(mark), "more than " + std::to_string(limits_.values_max) + " values");
    }
  }

  /// A scalar: the key of the open map, or a value.
  void take(Value value, const YAML::Mark& mark, bool null) {
    count(mark);
    if (!open_.empty() && open_.back().value.is_map() && !open_.back().has_key) {
      take_key(value, mark, null);
      return;
    }
    note_line(mark);
    place(std::move(value));
  }

  void take_key(const Value& key, const YAML::Mark& mark, bool null) {
    Open& top = open_.back();
    if (null || key.as_string().empty())
      throw Refused(line_of(mark), "expected a key, found nothing");
    if (key.as_string() == "<<") throw Refused(line_of(mark), "merge keys (<<) are not allowed");
    // Rationale: the lookup in `lines` finds duplicates; a search through the map would take minutes for a file of a hundred thousand keys.
    const std::string pointer = top.pointer + "/" + pointer_token(key.as_string());
    if (const auto first = document.lines.find(pointer); first != document.lines.end()) {
      throw Refused(line_of(mark), "key '" + cut_middle(key.as_string(), kQuotedMax) +
                                       "' occurs twice, first in line " +
                                       std::to_string(first->second));
    }
    top.key = key.as_string();
    top.has_key = true;
    // The line of a member is the line of its key.
    add_line(pointer, mark);
  }

  void start(Value container, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    count(mark);
    if (!open_.empty() && open_.back().value.is_map() && !open_.back().has_key) {
      throw Refused(line_of(mark), std::string("expected a key of text, found ") +
                                       (container.is_array() ? "an array" : "a map"));
    }
    if (open_.size() >= limits_.depth_max) {
      throw Refused(line_of(mark), "nested deeper than " + std::to_string(limits_.depth_max));
    }
    note_line(mark);
    open_.push_back({std::move(container), pointer(), {}, false});
  }

  void end() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    place(std::move(done));
  }

  void place(Value value) {
    if (open_.empty()) {
      document.value = std::move(value);
    } else if (Open& top = open_.back(); top.value.is_map()) {
      top.value.as_map().emplace_back(std::move(top.key), std::move(value));
      top.has_key = false;
    } else {
      top.value.push(std::move(value));
    }
  }

  /// Pointer of the next value.
  std::string pointer() const {
    if (open_.empty()) return "";
    const Open& top = open_.back();
    return top.pointer + "/" +
           (top.value.is_map() ? pointer_token(top.key)
                               : std::to_string(top.value.as_array().size()));
  }

  void note_line(const YAML::Mark& mark) { add_line(pointer(), mark); }

  /// Keeps the first of two.
  void add_line(std::string pointer, const YAML::Mark& mark) {
    pointer_bytes_ += pointer.size();
    if (pointer_bytes_ > limits_.pointer_bytes_max) {
      throw Refused(line_of(mark), "too many values below long keys");
    }
    document.lines.emplace(std::move(pointer), line_of(mark));
  }

  const YamlLimits limits_;
  std::vector<Open> open_;
  std::size_t values_ = 0, pointer_bytes_ = 0;
};

/// Whether a line, from 1, has a tab in its indentation.
bool begins_with_tab(std::string_view text, int line) {
  std::size_t start = 0;
  for (int i = 1; i < line && start != std::string_view::npos; ++i) {
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
  if (line < 1 || start == std::string_view::npos) return false;
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), text.size());
  return text.substr(start, end - start).find('\t') != std::string_view::npos;
}

/// The line of the first byte that is not allowed in text, or 0.
int line_of_bad_byte(std::string_view text) {
  const auto bad = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
  };
  const auto control = std::find_if(text.begin(), text.end(), bad);
  const std::size_t at =
      std::min(find_invalid_utf8(text), static_cast<std::size_t>(control - text.begin()));
  if (at < text.size()) {
    return 1 + static_cast<int>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  return 0;
}

}  // namespace

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

Value YamlDocument::to_value() const {
  Value numbers = Value::map();
  for (const auto& [pointer, line] : lines) numbers.as_map().emplace_back(pointer, line);
  return Value::map({{"value", value}, {"lines", std::move(numbers)}});
}

Result<YamlDocument> parse_yaml(std::string_view text, std::string_view name,
                                const YamlLimits& limits) {
  const auto refuse = [&](int line, const std::string& message) {
    return invalid_argument(std::string(name) + ":" + std::to_string(line) + ": " + message);
  };
  if (text.size() > limits.bytes_max) {
    return invalid_argument(std::string(name) + ": " + std::to_string(text.size()) +
                            " bytes; the limit is " + std::to_string(limits.bytes_max));
  }
  if (const int line = line_of_bad_byte(text); line != 0) {
    return refuse(line, "a byte that is not valid UTF-8 text");
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(limits);
    parser.HandleNextDocument(builder);
    Builder second(limits);
    if (parser.HandleNextDocument(second)) {
      const auto found = second.document.lines.find("");
      return refuse(found == second.document.lines.end() ? 1 : found->second,
                    "found a second document; expected one per file");
    }
    return std::move(builder.document);
  } catch (const Refused& refused) {
    return refuse(refused.line, refused.what());
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    for (const int near : {line, line - 1, line + 1}) {
      if (begins_with_tab(text, near)) {
        return refuse(near, "found a tab in the indentation; indent YAML with spaces");
      }
    }
    return refuse(line, error.msg);
  } catch (const std::exception& error) {
    return refuse(1, error.what());
  }
}

}  // namespace hone
