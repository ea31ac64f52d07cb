// The checks and the scratch folder of the fuzz targets.
#include "fuzz/fuzz.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace hone::fuzz {
namespace {

constexpr std::size_t kMessageBytesMax = 8192;

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hone-fuzz-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "a scratch folder can be made");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

/// Bytes of the character that begins the text; 0: none does.
std::size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  char32_t point = first & (0xffu >> (size + 1));
  for (const char c : text.substr(1, size - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) return 0;
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point < kLeast[size] || point > 0x10ffff || surrogate ? 0 : size;
}

}  // namespace

void check(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "property broken: %.*s\n", static_cast<int>(property.size()),
               property.data());
  std::abort();
}

void check_error(const Error& error, std::string_view place) {
  const auto fits = [&](bool holds, const char* property) {
    check(holds, std::string(property) + ": '" + error.message.substr(0, 400) + "'");
  };
  fits(error.code > Code::kOk && error.code <= Code::kInternal, "an error has a code");
  fits(!error.message.empty(), "an error has a message");
  fits(error.message.size() <= kMessageBytesMax, "an error's message is short");
  fits(error.message.starts_with(place), "an error begins with its place");
}

bool same(const Value& a, const Value& b) {
  if (a.is_float() && b.is_float() && std::isnan(a.as_double())) return std::isnan(b.as_double());
  if (a.is_array() && b.is_array()) {
    return std::equal(a.as_array().begin(), a.as_array().end(), b.as_array().begin(),
                      b.as_array().end(), same);
  }
  if (a.is_map() && b.is_map()) {
    return std::equal(a.as_map().begin(), a.as_map().end(), b.as_map().begin(), b.as_map().end(),
                      [](const Value::Entry& x, const Value::Entry& y) {
                        return x.first == y.first && same(x.second, y.second);
                      });
  }
  return a == b;
}

bool has_nonfinite(const Value& value) {
  if (value.is_float()) return !std::isfinite(value.as_double());
  if (value.is_array()) {
    return std::any_of(value.as_array().begin(), value.as_array().end(), has_nonfinite);
  }
  return value.is_map() &&
         std::any_of(value.as_map().begin(), value.as_map().end(),
                     [](const Value::Entry& entry) { return has_nonfinite(entry.second); });
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool has_utf8_only(const Value& value) {
  if (value.is_string()) return is_utf8(value.as_string());
  if (value.is_array()) {
    return std::all_of(value.as_array().begin(), value.as_array().end(), has_utf8_only);
  }
  return !value.is_map() ||
         std::all_of(value.as_map().begin(), value.as_map().end(), [](const Value::Entry& entry) {
           return is_utf8(entry.first) && has_utf8_only(entry.second);
         });
}

std::size_t depth_of(const Value& value) {
  std::size_t deepest = 0;
  if (value.is_array()) {
    for (const Value& item : value.as_array()) deepest = std::max(deepest, depth_of(item));
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.as_map()) deepest = std::max(deepest, depth_of(item));
  } else {
    return 0;
  }
  return deepest + 1;
}

std::size_t count_of(const Value& value) {
  std::size_t count = 1;
  if (value.is_array()) {
    for (const Value& item : value.as_array()) count += count_of(item);
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.as_map()) count += count_of(item);
  }
  return count;
}

const std::filesystem::path& scratch() {
  static const Folder kFolder;
  return kFolder.path;
}

void put_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  check(file.good(), "a file of the scratch folder can be written");
}

std::uint64_t Input::number(std::size_t bytes) {
  std::uint64_t number = 0;
  const std::string_view from = piece(bytes);
  for (std::size_t i = from.size(); i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(from[i - 1]);
  }
  return number;
}

std::string_view Input::piece(std::size_t size) {
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(taken.size());
  return taken;
}

}  // namespace hone::fuzz
