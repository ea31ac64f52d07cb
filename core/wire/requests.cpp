// How each kind of field is read, and the check of hello.
#include "wire/requests.hpp"

#include <algorithm>

#include "wire/message.hpp"

namespace hone::wire {
namespace {

constexpr std::size_t kVersionsMax = 16;

}  // namespace

void FieldReader::required(std::string_view key, std::string& field, std::size_t bytes_max) {
  field = map_.text(key, bytes_max);
}

void FieldReader::required(std::string_view key, std::int64_t& field) {
  field = map_.integer(key, 0, INT64_MAX);
}

void FieldReader::required(std::string_view key, Value& field) {
  if (const Value* found = map_.map(key)) field = *found;
}

void FieldReader::required(std::string_view key, std::vector<std::string>& field) {
  static_cast<void>(map_.array(key));
  field = map_.texts_or(key, {});
}

void FieldReader::optional(std::string_view key, std::string& field, std::size_t bytes_max) {
  field = map_.text_or(key, "", bytes_max);
}

void FieldReader::optional(std::string_view key, std::int64_t& field) {
  if (map_.value_or_null(key) != nullptr) field = map_.integer(key, 0, INT64_MAX);
}

void FieldReader::optional(std::string_view key, bool& field) { field = map_.flag_or(key, field); }

void FieldReader::optional(std::string_view key, std::vector<std::string>& field) {
  field = map_.texts_or(key, {});
}

void FieldReader::optional(std::string_view key, std::optional<std::string>& field) {
  if (map_.value_or_null(key) != nullptr) field = map_.text(key);
}

void FieldReader::optional(std::string_view key, std::optional<std::int64_t>& field) {
  if (map_.value_or_null(key) != nullptr) field = map_.integer(key, INT64_MIN, INT64_MAX);
}

void FieldReader::optional(std::string_view key, std::optional<Value>& field) {
  if (const Value* found = map_.map_or_null(key)) field = *found;
}

Status HelloRequest::check() const {
  if (versions.size() > kVersionsMax) {
    return invalid_argument("hello/versions: found " + std::to_string(versions.size()) +
                            " versions, at most " + std::to_string(kVersionsMax) + " allowed");
  }
  if (std::find(versions.begin(), versions.end(), kProtocol) != versions.end()) return {};
  std::string found;
  for (const std::string& version : versions)
    found += (found.empty() ? "" : ", ") + version.substr(0, 32);
  return invalid_argument("versions: found [" + found + "], this server speaks [" +
                          std::string(kProtocol) + "]");
}

}  // namespace hone::wire
