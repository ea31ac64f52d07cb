// A configuration file and a --set: YAML, its limits, and the schema.
#include <algorithm>
#include <charconv>

#include "config/config.hpp"
#include "config/described_backends.hpp"
#include "config/yaml.hpp"
#include "fuzz/fuzz.hpp"

namespace hone::fuzz {
namespace {

constexpr YamlLimits kTight{.bytes_max = 4096, .depth_max = 4, .values_max = 64};

void check_yaml(std::string_view text, const YamlLimits& limits) {
  const auto document = parse_yaml(text, "hone.yaml", limits);
  if (!document) return check_error(document.error(), "hone.yaml:");
  check(depth_of(document->value) <= limits.depth_max, "a document is no deeper than allowed");
  check(count_of(document->value) <= limits.values_max, "a document holds no more than allowed");
  check(has_utf8_only(document->value), "a document's texts are UTF-8");
  const auto lines =
      1 + std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; });
  for (const auto& [pointer, line] : document->lines) {
    check(line >= 1 && line <= lines, "a line is one of the text's");
  }
}

/// "default", a line of the file, or the --set.
bool is_place(std::string_view place) {
  if (place == "default" || place.starts_with("--set ")) return true;
  constexpr std::string_view kName = "hone.yaml:";
  if (!place.starts_with(kName)) return false;
  int line = 0;
  const char* const end = place.data() + place.size();
  return std::from_chars(place.data() + kName.size(), end, line).ptr == end && line > 0;
}

}  // namespace

void one(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(0, end);
  std::vector<std::string> sets;
  if (end < bytes.size()) sets.emplace_back(bytes.substr(end + 1));
  check_yaml(text, {});
  check_yaml(text, kTight);

  const auto loaded = parse_config(text, "hone.yaml", "/etc/hone", sets, test::described_backends);
  if (!loaded) {
    check_error(loaded.error());
    const std::string& message = loaded.error().message;
    check(message.starts_with("hone.yaml") || message.starts_with("--set "),
          "a mistake says where it stands: " + message.substr(0, 200));
    return;
  }
  for (const auto& [pointer, place] : loaded->origins) {
    check(is_place(place), "a value's origin is a place: " + place.substr(0, 200));
  }
  const Value whole = config_to_value(loaded->config);
  if (has_nonfinite(whole)) return;  // as JSON, which has no such numbers
  const auto again =
      parse_config(to_json(whole, 1), "printed", "/etc/hone", {}, test::described_backends);
  check(again.ok(), again ? "" : "what is printed can be read: " + again.error().message);
  check(same(config_to_value(again->config), whole), "what is printed means the same");
}

}  // namespace hone::fuzz
