// Lists the keys of the configuration by walking its schema.
#include "base/readable.hpp"
#include "config/config.hpp"
#include "config/schema.hpp"

namespace hone {
namespace {

/// Lists keys.
class Documenter : public SchemaVisitor {
 public:
  explicit Documenter(std::vector<ConfigKey>& keys, std::string prefix = {})
      : keys_(keys), prefix_(std::move(prefix)) {}

  void text(std::string_view key, std::string&, std::string_view doc) override {
    add(key, "text", doc);
  }
  void address(std::string_view key, std::string&, std::string_view doc) override {
    add(key, "text or integer", doc);
  }
  void choice(std::string_view key, std::string&, const std::vector<std::string>& allowed,
              std::string_view doc) override {
    std::string expected;
    for (const std::string& one : allowed) expected += (expected.empty() ? "" : " | ") + one;
    add(key, expected, doc);
  }
  void integer(std::string_view key, std::int64_t&, Range r, std::string_view doc) override {
    const bool bytes = key.ends_with("bytes");
    const auto text = [bytes](double bound) {
      return bytes ? readable_bytes(static_cast<std::int64_t>(bound)) : readable_number(bound);
    };
    add(key, std::string(bytes ? "bytes, " : "integer, ") + text(r.low) + " to " + text(r.high),
        doc);
  }
  void number(std::string_view key, double&, Range r, std::string_view doc) override {
    add(key, "number, " + between(r), doc);
  }
  void number_or_nil(std::string_view key, std::optional<double>&, Range r,
                     std::string_view doc) override {
    add(key, "number, " + between(r) + ", or null", doc);
  }
  void flag(std::string_view key, bool&, std::string_view doc) override {
    add(key, "true | false", doc);
  }
  void texts(std::string_view key, std::vector<std::string>&, std::string_view doc) override {
    add(key, "list of texts", doc);
  }
  void integers(std::string_view key, std::vector<std::int64_t>&, Range r,
                std::string_view doc) override {
    add(key, "list of integers, each " + between(r), doc);
  }
  void integers_or_all(std::string_view key, std::vector<std::int64_t>&, Range r,
                       std::string_view doc) override {
    add(key, "list of integers, each " + between(r) + ", or all", doc);
  }
  void open_map(std::string_view key, Value&, std::string_view doc) override {
    add(key, "map", doc);
  }
  void group(std::string_view key, const Walk& walk) override {
    Documenter inner(keys_, prefix_ + std::string(key) + ".");
    walk(inner);
  }
  void list(std::string_view key, std::size_t, const std::function<void(std::size_t)>& resize,
            const std::function<void(std::size_t, SchemaVisitor&)>& walk,
            std::string_view doc) override {
    add(key, "list of maps", doc);
    resize(1);
    Documenter inner(keys_, prefix_ + std::string(key) + "[].");
    walk(0, inner);
  }

 private:
  static std::string between(Range r) {
    return readable_number(r.low) + " to " + readable_number(r.high);
  }
  void add(std::string_view key, std::string expected, std::string_view doc) {
    keys_.push_back({prefix_ + std::string(key), std::move(expected), std::string(doc)});
  }

  std::vector<ConfigKey>& keys_;
  const std::string prefix_;
};

}  // namespace

std::vector<ConfigKey> config_keys(const Config& config) {
  std::vector<ConfigKey> keys;
  Config copy = config;  // the walk resizes lists
  Documenter documenter(keys);
  walk_config(copy, documenter);
  return keys;
}

}  // namespace hone
