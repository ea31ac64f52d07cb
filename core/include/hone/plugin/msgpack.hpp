// MessagePack for plugins: Value to bytes and back, within limits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/abi.h"
#include "hone/plugin/failure.hpp"
#include "hone/plugin/value.hpp"

namespace hone::plugin {

/// Appends MessagePack, every number in its shortest form, so that equal values give equal bytes.
/// pack() appends a Value. The others append one item each, for data that no Value need hold: after
/// map(n) come n pairs of text and item, after array(n) n items.
class Packer {
 public:
  explicit Packer(std::string& out) : out_(out) {}

  void pack(const Value& v) {
    if (v.is_nil()) {
      byte(0xC0);
    } else if (v.is_bool()) {
      byte(v.as_bool() ? 0xC3 : 0xC2);
    } else if (v.is_int()) {
      integer(v.as_int());
    } else if (v.is_float()) {
      byte(0xCB);
      big_endian(std::bit_cast<std::uint64_t>(v.as_double()), 8);
    } else if (v.is_string()) {
      text(v.as_string());
    } else if (v.is_bytes()) {
      bytes(v.as_bytes());
    } else if (v.is_array()) {
      const Value::Array& items = v.as_array();
      array(items.size());
      for (const Value& item : items) pack(item);
    } else {
      const Value::Map& entries = v.as_map();
      map(entries.size());
      for (const auto& [key, item] : entries) {
        text(key);
        pack(item);
      }
    }
  }
  void map(std::size_t size) { size < 16 ? byte(0x80u | size) : header(size, 0, 0xDE, 0xDF); }
  void array(std::size_t size) { size < 16 ? byte(0x90u | size) : header(size, 0, 0xDC, 0xDD); }
  void bytes(std::string_view v) {
    header(v.size(), 0xC4, 0xC5, 0xC6);
    out_ += v;
  }
  void text(std::string_view v) {
    v.size() < 32 ? byte(0xA0u | v.size()) : header(v.size(), 0xD9, 0xDA, 0xDB);
    out_ += v;
  }
  void integer(std::int64_t v) {
    const auto bits = static_cast<std::uint64_t>(v);
    if (v >= -32 && v < 128) return byte(bits & 0xFFu);
    if (v >= 0) {
      const unsigned width = bits <= 0xFF ? 0 : bits <= 0xFFFF ? 1 : bits <= 0xFFFFFFFF ? 2 : 3;
      byte(0xCCu + width);
      return big_endian(bits, 1u << width);
    }
    const unsigned width = v >= -0x80 ? 0 : v >= -0x8000 ? 1 : v >= -0x80000000LL ? 2 : 3;
    byte(0xD0u + width);
    big_endian(bits, 1u << width);
  }

 private:
  void byte(std::uint64_t v) { out_.push_back(static_cast<char>(static_cast<std::uint8_t>(v))); }
  void big_endian(std::uint64_t v, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) byte((v >> (8 * i)) & 0xFFu);
  }
  /// A length under the tag of its width; tag8 = 0 where the format has no 8-bit form.
  void header(std::size_t size, unsigned tag8, unsigned tag16, unsigned tag32) {
    if (size > std::numeric_limits<std::uint32_t>::max()) {
      fail(HONE_RESOURCE_EXHAUSTED, "a value of " + std::to_string(size) +
                                        " bytes or items; messagepack holds at most 2^32 - 1");
    }
    const bool fits8 = tag8 != 0 && size <= 0xFF;
    byte(fits8 ? tag8 : size <= 0xFFFF ? tag16 : tag32);
    big_endian(size, fits8 ? 1 : size <= 0xFFFF ? 2 : 4);
  }

  std::string& out_;
};

/// Reads one value. A length is believed only as far as there are bytes for it, so a few bytes
/// never make a large allocation. A value of one byte takes 40 bytes of memory: `values_max` limits
/// the values in total.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes, unsigned depth_max = 32,
                    std::size_t values_max = std::numeric_limits<std::size_t>::max())
      : bytes_(bytes), depth_max_(depth_max), values_max_(values_max) {}

  Value whole() {
    Value value = next(0);
    if (at_ != bytes_.size())
      refuse(std::to_string(bytes_.size() - at_) + " bytes after the value");
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    invalid_argument("messagepack: " + why);
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) refuse("cut off at byte " + std::to_string(bytes_.size()));
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += part.size();
    return part;
  }
  std::uint64_t number(unsigned bytes) {
    std::uint64_t v = 0;
    for (const char c : take(bytes)) v = v << 8 | static_cast<std::uint8_t>(c);
    return v;
  }
  std::uint64_t items(std::uint64_t count, unsigned bytes_each) const {
    if (count > (bytes_.size() - at_) / bytes_each) {
      refuse("cut off at byte " + std::to_string(bytes_.size()));
    }
    return count;
  }

  Value next(unsigned depth) {
    if (values_++ >= values_max_) refuse("more than " + std::to_string(values_max_) + " values");
    const auto tag = static_cast<unsigned>(number(1));
    if (tag < 0x80) return Value(std::int64_t{tag});
    if (tag >= 0xE0) return Value(std::int64_t{tag} - 0x100);
    if (tag < 0x90) return map(tag & 0x0Fu, depth);
    if (tag < 0xA0) return array(tag & 0x0Fu, depth);
    if (tag < 0xC0) return Value(take(tag & 0x1Fu));
    switch (tag) {
      case 0xC0:
        return Value();
      case 0xC2:
        return Value(false);
      case 0xC3:
        return Value(true);
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return Value::bytes(take(number(1u << (tag - 0xC4))));
      case 0xCA:
        return Value(double{std::bit_cast<float>(static_cast<std::uint32_t>(number(4)))});
      case 0xCB:
        return Value(std::bit_cast<double>(number(8)));
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return unsigned_integer(number(1u << (tag - 0xCC)));
      case 0xD0:
        return Value(std::int64_t{static_cast<std::int8_t>(number(1))});
      case 0xD1:
        return Value(std::int64_t{static_cast<std::int16_t>(number(2))});
      case 0xD2:
        return Value(std::int64_t{static_cast<std::int32_t>(number(4))});
      case 0xD3:
        return Value(static_cast<std::int64_t>(number(8)));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return Value(take(number(1u << (tag - 0xD9))));
      case 0xDC:
      case 0xDD:
        return array(number(tag == 0xDC ? 2 : 4), depth);
      case 0xDE:
      case 0xDF:
        return map(number(tag == 0xDE ? 2 : 4), depth);
      case 0xC1:
        refuse("broken at byte " + std::to_string(at_ - 1));
      default:
        refuse("an extension type at byte " + std::to_string(at_ - 1));
    }
  }
  Value unsigned_integer(std::uint64_t v) const {
    if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse("an integer beyond int64");
    }
    return Value(static_cast<std::int64_t>(v));
  }
  void check_depth(unsigned depth) const {
    if (depth >= depth_max_) refuse("nested deeper than " + std::to_string(depth_max_));
  }
  Value array(std::uint64_t count, unsigned depth) {
    check_depth(depth);
    Value::Array result;
    for (std::uint64_t i = items(count, 1); i > 0; --i) result.push_back(next(depth + 1));
    return Value(std::move(result));
  }
  Value map(std::uint64_t count, unsigned depth) {
    check_depth(depth);
    Value::Map result;
    for (std::uint64_t i = items(count, 2); i > 0; --i) {
      Value key = next(depth + 1);
      if (!key.is_string())
        refuse("map key: expected a string, found " + std::string(key.type_name()));
      result.emplace_back(key.as_string(), next(depth + 1));
    }
    std::vector<std::string_view> keys;
    for (const auto& [key, ignored] : result) keys.emplace_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) refuse("duplicate key '" + std::string(*twice) + "'");
    return Value(std::move(result));
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  unsigned depth_max_;
  std::size_t values_max_, values_ = 0;
};

inline std::string to_msgpack(const Value& value) {
  std::string bytes;
  Packer(bytes).pack(value);
  return bytes;
}
/// Decodes exactly one value; anything else is a Failure.
inline Value from_msgpack(std::string_view bytes) { return Unpacker(bytes).whole(); }
inline Value from_msgpack(hone_bytes bytes) {
  if (bytes.size == 0) return from_msgpack(std::string_view());
  return from_msgpack(std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size));
}

/// Writes to the host's sink; a sink that refuses is a Failure.
inline void write(hone_sink* sink, std::string_view bytes) {
  const std::int32_t code = sink->write(sink->self, bytes.data(), bytes.size());
  if (code != HONE_OK) {
    fail(static_cast<hone_code>(code),
         "the host's sink refused " + std::to_string(bytes.size()) + " bytes");
  }
}
inline void write(hone_sink* sink, const Value& value) {
  write(sink, std::string_view(to_msgpack(value)));
}

}  // namespace hone::plugin
