// Untrusted JSON: answers of Python plugin hosts, and files of verdicts.
#include "fuzz/fuzz.hpp"

namespace hone::fuzz {

void one(std::string_view bytes) {
  Input input(bytes);
  CodecLimits limits;
  if ((input.number(1) & 1u) != 0) {
    limits = {.depth_max = 3, .items_max = 4, .values_max = 12, .bytes_max = 16};
  }
  const auto value = from_json(input.rest(), limits);
  if (!value) return check_error(value.error(), "json: ");
  check(depth_of(*value) <= limits.depth_max, "a decoded value is no deeper than allowed");
  check(count_of(*value) <= limits.values_max, "a decoded value holds no more than allowed");
  check(has_utf8_only(*value), "text that was decoded is UTF-8");
  check(!has_nonfinite(*value), "JSON has neither NaN nor infinity");
  for (const int indent : {-1, 2}) {
    const std::string text = to_json(*value, indent);
    const auto again = from_json(text, limits);
    check(again.ok(), "what was written can be read");
    check(same(*again, *value), "what was decoded decodes again to the same");
  }
  const auto packed = from_msgpack(to_msgpack(*value));
  check(packed && same(*packed, *value), "it is the same in MessagePack");
}

}  // namespace hone::fuzz
