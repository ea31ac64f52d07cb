// The schema of the configuration: one list of keys, walked to read, to write and to document it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace hone {

/// Visits all keys in order. Implementations read, write or document the members.
class SchemaVisitor {
 public:
  using Walk = std::function<void(SchemaVisitor&)>;
  struct Range {
    double low, high;
  };

  virtual ~SchemaVisitor() = default;
  virtual void text(std::string_view key, std::string& member, std::string_view doc) = 0;
  /// An address: PORT as text or integer, or HOST:PORT.
  virtual void address(std::string_view key, std::string& member, std::string_view doc) = 0;
  virtual void choice(std::string_view key, std::string& member,
                      const std::vector<std::string>& allowed, std::string_view doc) = 0;
  virtual void integer(std::string_view key, std::int64_t& member, Range range,
                       std::string_view doc) = 0;
  virtual void number(std::string_view key, double& member, Range range, std::string_view doc) = 0;
  /// nil: none.
  virtual void number_or_nil(std::string_view key, std::optional<double>& member, Range range,
                             std::string_view doc) = 0;
  virtual void flag(std::string_view key, bool& member, std::string_view doc) = 0;
  virtual void texts(std::string_view key, std::vector<std::string>& member,
                     std::string_view doc) = 0;
  virtual void integers(std::string_view key, std::vector<std::int64_t>& member, Range range,
                        std::string_view doc) = 0;
  /// As integers(), or the text "all", which is an empty list in `member`.
  virtual void integers_or_all(std::string_view key, std::vector<std::int64_t>& member, Range range,
                               std::string_view doc) = 0;
  /// A map that a plugin reads.
  virtual void open_map(std::string_view key, Value& member, std::string_view doc) = 0;
  virtual void group(std::string_view key, const Walk& walk) = 0;
  /// A list of maps: `resize` sets the number of members, `walk` visits the i-th.
  virtual void list(std::string_view key, std::size_t count,
                    const std::function<void(std::size_t)>& resize,
                    const std::function<void(std::size_t, SchemaVisitor&)>& walk,
                    std::string_view doc) = 0;
};

void walk_config(Config& config, SchemaVisitor& visitor);

}  // namespace hone
