// `hone plugins`: lists the plugins, or prints the description of one.
#include "app/host.hpp"
#include "base/files.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"

namespace hone {
namespace {

class PluginsCommand : public Command {
 public:
  std::string name() const override { return "plugins"; }
  std::string summary() const override {
    return "List rewards, datasets and backends, or describe one.";
  }
  std::vector<std::string> examples() const override {
    return {"hone plugins                                    # all, with refused ones",
            "hone plugins kevin                              # source, range, parameters",
            "hone plugins --set plugins.paths=[my_reward.py] # with your own"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "NAME", .doc = "plugin to describe"}, plugin_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    const auto registry = open_registry(loaded->config);
    if (!plugin_.empty()) return describe(terminal, *registry);
    std::vector<Row> rows;
    Value listed = Value::array();
    bool refused = false;
    for (const PluginInfo& info : registry->plugins()) {
      const bool good = info.error.empty();
      refused = refused || !good;
      std::string summary = info.error;
      if (good) {
        const auto described = registry->describe(info.kind, info.name);
        const Value* text = described ? described->find("summary") : nullptr;
        summary = text != nullptr ? text->as_string() : described ? "" : described.error().message;
      }
      rows.push_back({{std::string(kind_name(info.kind))},
                      {info.name, Colour::kBold},
                      {info.version},
                      {info.runs_in},
                      {summary, good ? Colour::kPlain : Colour::kRed}});
      listed.push(Value::map({{"kind", kind_name(info.kind)},
                              {"name", info.name},
                              {"version", info.version},
                              {"path", info.path.string()},
                              {"runs_in", info.runs_in},
                              {"summary", good ? summary : ""},
                              {"error", info.error}}));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"kind", "name", "version", "runs in", "summary"}, rows);
      if (rows.empty()) terminal.line("no plugins below " + (install_root() / "plugins").string());
    }
    return refused ? kExitNo : kExitOk;
  }

 private:
  int describe(Terminal& terminal, const Registry& registry) const {
    for (const PluginInfo& info : registry.plugins()) {
      if (info.name != plugin_) continue;
      if (!info.error.empty())
        return terminal.fail(invalid_argument(info.error), "hone validate " + info.path.string());
      const auto described = registry.describe(info.kind, info.name);
      if (!described) return terminal.fail(described.error());
      if (json_) {
        terminal.json(*described, 2);
        return kExitOk;
      }
      terminal.line(terminal.paint(Colour::kBold, info.name) + " " + info.version + ", a " +
                    std::string(kind_name(info.kind)) + " that runs in " +
                    (info.runs_in == "hone" ? "hone" : "a " + info.runs_in) + ": " +
                    info.path.string());
      for (const auto& [key, member] : described->as_map()) {
        if (key == "parameters" && member.is_map()) {
          print_parameters(terminal, member);
        } else {
          terminal.line("  " + key + ": " +
                        (member.is_string() ? member.as_string() : to_json(member)));
        }
      }
      return kExitOk;
    }
    std::vector<std::string> names;
    for (const PluginInfo& info : registry.plugins()) names.push_back(info.name);
    return terminal.fail(not_found(unknown_name("plugin", plugin_, names)),
                         "list all plugins: hone plugins");
  }

  static void print_parameters(Terminal& terminal, const Value& parameters) {
    std::vector<Row> rows;
    for (const auto& [name, about] : parameters.as_map()) {
      const auto text = [&about = about](const char* key) {
        const Value* member = about.find(key);
        return member == nullptr     ? std::string("-")
               : member->is_string() ? member->as_string()
                                     : to_json(*member);
      };
      rows.push_back({{"  " + name, Colour::kBold},
                      {text("type")},
                      {text("default")},
                      {text("doc"), Colour::kDim}});
    }
    if (!rows.empty()) terminal.table({"  parameter", "type", "default", "description"}, rows);
  }

  ConfigOptions config_;
  std::string plugin_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plugins_command() { return std::make_unique<PluginsCommand>(); }

}  // namespace hone
