// Conversion between Value and MessagePack: the one file that includes msgpack-c. A visitor with limits
// builds the value, so that a few bytes never cause a large allocation.
#include <bit>
#include <cmath>
#include <limits>
#include <msgpack.hpp>

#include "base/utf8.hpp"
#include "model/value.hpp"

namespace hone {
namespace {

/// Longest quotation of a key in a message (bytes).
constexpr std::size_t kQuotedMax = 128;

class Sink {
 public:
  void write(const char* data, std::size_t size) { bytes_.append(data, size); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Always a float64. Rationale: pack_double writes whole numbers as integers, and a client in a language that
/// distinguishes them would get rewards of two types.
void pack_float(Sink& sink, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  char bytes[9] = {'\xcb'};
  for (int i = 0; i < 8; ++i) bytes[1 + i] = static_cast<char>(bits >> (56 - 8 * i));
  sink.write(bytes, sizeof bytes);
}

void pack(msgpack::packer<Sink>& to, Sink& sink, const Value& value) {
  if (value.is_nil()) {
    to.pack_nil();
  } else if (value.is_bool()) {
    value.as_bool() ? to.pack_true() : to.pack_false();
  } else if (value.is_int()) {
    to.pack_int64(value.as_int());
  } else if (value.is_float()) {
    pack_float(sink, value.as_double());
  } else if (value.is_string()) {
    const std::string& text = value.as_string();
    to.pack_str(static_cast<std::uint32_t>(text.size()));
    to.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
  } else if (value.is_bytes()) {
    const std::string& data = value.as_bytes();
    to.pack_bin(static_cast<std::uint32_t>(data.size()));
    to.pack_bin_body(data.data(), static_cast<std::uint32_t>(data.size()));
  } else if (value.is_array()) {
    to.pack_array(static_cast<std::uint32_t>(value.as_array().size()));
    for (const Value& item : value.as_array()) pack(to, sink, item);
  } else {
    to.pack_map(static_cast<std::uint32_t>(value.as_map().size()));
    for (const auto& [key, item] : value.as_map()) {
      to.pack_str(static_cast<std::uint32_t>(key.size()));
      to.pack_str_body(key.data(), static_cast<std::uint32_t>(key.size()));
      pack(to, sink, item);
    }
  }
}

/// Builds a Value bottom-up on a stack. Stops at the first mistake.
class Builder : public msgpack::null_visitor {
 public:
  explicit Builder(const CodecLimits& limits) : limits_(limits) {}

  bool visit_nil() { return add(Value()); }
  bool visit_boolean(bool v) { return add(Value(v)); }
  bool visit_positive_integer(std::uint64_t v) {
    if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return refuse(place() + "integer beyond int64: " + std::to_string(v));
    }
    return add(Value(static_cast<std::int64_t>(v)));
  }
  bool visit_negative_integer(std::int64_t v) { return add(Value(v)); }
  bool visit_float32(float v) { return add(Value(static_cast<double>(v))); }
  bool visit_float64(double v) { return add(Value(v)); }
  bool visit_str(const char* v, std::uint32_t size) {
    if (size > limits_.bytes_max) return refuse("a string of " + std::to_string(size) + " bytes");
    if (in_key_) return start_member(std::string(v, size));
    return add(Value(std::string(v, size)));
  }
  bool visit_bin(const char* v, std::uint32_t size) {
    if (size > limits_.bytes_max) return refuse("a binary of " + std::to_string(size) + " bytes");
    return add(Value::bytes({v, size}));
  }
  bool visit_ext(const char*, std::uint32_t) { return refuse("an extension type"); }
  bool start_array(std::uint32_t size) { return open(Value(Value::Array()), size); }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t size) { return open(Value(Value::Map()), size); }
  bool end_map() { return close(); }
  bool start_map_key() { return in_key_ = true; }
  bool end_map_key() { return true; }
  void parse_error(std::size_t, std::size_t at) { refuse("broken at byte " + std::to_string(at)); }
  void insufficient_bytes(std::size_t, std::size_t at) {
    refuse("cut off at byte " + std::to_string(at));
  }

  const std::string& refusal() const { return refusal_; }
  Value take() { return std::move(root_); }

 private:
  /// "options/seed: "
  std::string place() const {
    std::string keys;
    for (const Value& in : stack_) {
      if (!in.is_map() || in.as_map().empty()) continue;
      keys += (keys.empty() ? "" : "/") + cut_end(in.as_map().back().first, kQuotedMax);
    }
    return keys.empty() ? keys : keys + ": ";
  }

  bool refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
    return false;
  }

  bool add(Value value) {
    if (in_key_)
      return refuse("map key: expected a string, found " + std::string(value.type_name()));
    if (++values_ > limits_.values_max) {
      return refuse("more than " + std::to_string(limits_.values_max) + " values");
    }
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().is_array()) {
      stack_.back().as_array().push_back(std::move(value));
    } else {
      stack_.back().as_map().back().second = std::move(value);
    }
    return true;
  }

  bool start_member(std::string key) {
    in_key_ = false;
    Value::Map& map = stack_.back().as_map();
    // Rationale: a linear search per key takes quadratic time for a large map. items_max bounds it, and a
    // large map is checked by sorting its keys when it closes.
    if (map.size() < 64) {
      for (const auto& [known, ignored] : map) {
        if (known == key) return refuse("duplicate key '" + cut_middle(key, kQuotedMax) + "'");
      }
    }
    map.emplace_back(std::move(key), Value());
    return true;
  }

  bool open(Value container, std::uint32_t size) {
    if (in_key_)
      return refuse("map key: expected a string, found " + std::string(container.type_name()));
    if (size > limits_.items_max) {
      return refuse(std::string(container.type_name()) + " of " + std::to_string(size) +
                    " items, at most " + std::to_string(limits_.items_max) + " allowed");
    }
    if (stack_.size() >= limits_.depth_max) {
      return refuse("nested deeper than " + std::to_string(limits_.depth_max));
    }
    stack_.push_back(std::move(container));
    return true;
  }

  bool close() {
    Value done = std::move(stack_.back());
    stack_.pop_back();
    if (done.is_map() && done.as_map().size() > 64) {
      std::vector<std::string_view> keys;
      for (const auto& [key, ignored] : done.as_map()) keys.push_back(key);
      std::sort(keys.begin(), keys.end());
      if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) return refuse("a key twice");
    }
    return add(std::move(done));
  }

  CodecLimits limits_;
  std::vector<Value> stack_;
  Value root_;
  bool in_key_ = false;
  std::size_t values_ = 0;
  std::string refusal_;
};

}  // namespace

std::string to_msgpack(const Value& value) {
  Sink sink;
  msgpack::packer<Sink> packer(sink);
  pack(packer, sink, value);
  return sink.take();
}

Result<Value> from_msgpack(std::string_view bytes, const CodecLimits& limits) {
  Builder builder(limits);
  std::size_t used = 0;
  bool parsed = false;
  try {
    parsed = msgpack::parse(bytes.data(), bytes.size(), used, builder);
  } catch (const std::exception& error) {
    return invalid_argument(std::string("messagepack: ") + error.what());
  }
  if (!parsed || !builder.refusal().empty()) {
    const std::string& why = builder.refusal();
    return invalid_argument("messagepack: " + (why.empty() ? std::string("not a value") : why));
  }
  if (used != bytes.size()) {
    return invalid_argument("messagepack: " + std::to_string(bytes.size() - used) +
                            " bytes after the value");
  }
  return builder.take();
}

}  // namespace hone
