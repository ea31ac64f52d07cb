// `hone config`: prints the effective configuration with the source of each value, or lists all keys.
#include "app/parts.hpp"
#include "cli/command.hpp"
#include "config/config.hpp"
#include "config/yaml.hpp"

namespace hone {
namespace {

bool is_leaf(const Value& value) {
  return !(value.is_map() && !value.as_map().empty()) &&
         !(value.is_array() && !value.as_array().empty() && value.as_array().front().is_map());
}

class ConfigCommand : public Command {
 public:
  std::string name() const override { return "config"; }
  std::string summary() const override {
    return "Print the effective configuration with the source of each value.";
  }
  std::vector<std::string> examples() const override {
    return {"hone config                           # the defaults",
            "hone config configs/server.yaml       # check a file, then print it with defaults",
            "hone config --set server.lease_s=60   # the effect of --set",
            "hone config --keys                    # all keys with types and descriptions",
            "hone config > hone.yaml               # write a file to start from"};
  }
  void declare(OptionSet& options) override {
    config_.declare(options, true);
    options.flag({.name = "--keys", .doc = "list all keys with type and description"}, keys_);
    options.flag({.name = "--json", .doc = "print JSON with the members config and origins"},
                 json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = config_.load();
    if (!loaded) return config_.fail(terminal, loaded.error());
    if (keys_) return list_keys(terminal, loaded->config);
    if (const Status good = check_all(*loaded); !good) return terminal.fail(good.error());
    const Value value = config_to_value(loaded->config);
    if (json_) {
      Value origins = Value::map();
      for (const auto& [pointer, origin] : loaded->origins) origins.set(pointer, origin);
      terminal.json(Value::map({{"config", value}, {"origins", origins}}), 2);
      return kExitOk;
    }
    collect(value, "", "", loaded->origins);
    std::size_t width = 0;
    for (const auto& [text, origin] : lines_)
      width = std::max(width, origin.empty() ? 0 : text_width(text));
    for (const auto& [text, origin] : lines_) {
      std::string padded = text;
      if (!origin.empty()) padded.append(width - text_width(text) + 2, ' ');
      terminal.line(padded + (origin.empty() ? "" : terminal.paint(Colour::kDim, "# " + origin)));
    }
    return kExitOk;
  }

 private:
  /// Checks that need more than the schema: endpoints, device slots and plugins.
  static Status check_all(LoadedConfig& loaded) {
    HONE_TRY(check_endpoints(loaded));
    HONE_TRY(fit_slots(loaded));
    HONE_TRY(open_parts(loaded));
    return {};
  }

  void collect(const Value& value, const std::string& pointer, const std::string& indent,
               const std::map<std::string, std::string, std::less<>>& origins) {
    for (const auto& [key, member] : value.as_map()) {
      const std::string at = pointer + "/" + pointer_token(key);
      if (is_leaf(member)) {
        const auto origin = origins.find(at);
        // JSON is valid YAML. A string keeps its quotes only if YAML needs them.
        lines_.emplace_back(indent + key + ": " + plain(member),
                            origin == origins.end() ? "" : origin->second);
      } else if (member.is_map()) {
        lines_.emplace_back(indent + key + ":", "");
        collect(member, at, indent + "  ", origins);
      } else {
        lines_.emplace_back(indent + key + ":", "");
        for (std::size_t i = 0; i < member.as_array().size(); ++i) {
          const std::string item = at + "/" + std::to_string(i);
          const auto& map = member.as_array()[i].as_map();
          const auto origin = map.empty()
                                  ? origins.end()
                                  : origins.find(item + "/" + pointer_token(map.front().first));
          lines_.emplace_back(indent + "- " + to_json(member.as_array()[i]),
                              origin == origins.end() ? "" : origin->second);
        }
      }
    }
  }

  static std::string plain(const Value& value) {
    if (!value.is_string()) return to_json(value);
    const std::string& text = value.as_string();
    const auto parsed = parse_yaml(text, "");
    const bool same = parsed && parsed->value == value && text.find(": ") == std::string::npos &&
                      text.find(" #") == std::string::npos && text.find('\n') == std::string::npos;
    return same ? text : to_json(value);
  }

  int list_keys(Terminal& terminal, const Config& config) const {
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const ConfigKey& key : config_keys(config)) {
      rows.push_back({{key.name, Colour::kBold}, {key.expected}, {key.doc, Colour::kDim}});
      listed.push(Value::map({{"key", key.name}, {"expected", key.expected}, {"doc", key.doc}}));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"key", "accepts", "description"}, rows);
    }
    return kExitOk;
  }

  ConfigOptions config_;
  bool keys_ = false, json_ = false;
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace

std::unique_ptr<Command> make_config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace hone
