// `hone validate`: checks a plugin against the rules of the ABI. Also the child process of one check.
#include <algorithm>

#include "app/host.hpp"
#include "cli/command.hpp"
#include "conformance/hosted_checks.hpp"
#include "conformance/validate.hpp"

namespace hone {
namespace {

Colour colour_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return Colour::kGreen;
    case CheckOutcome::kWarning:
      return Colour::kYellow;
    case CheckOutcome::kSkipped:
      return Colour::kDim;
    default:
      return Colour::kRed;
  }
}

class ValidateCommand : public Command {
 public:
  std::string name() const override { return "validate"; }
  std::string summary() const override {
    return "Check a plugin against the rules of the ABI, each check in its own process.";
  }
  std::vector<std::string> examples() const override {
    return {"hone validate build/my_reward.so", "hone validate my_reward.py",
            "hone validate my_reward.py --set plugins.python=venv/bin/python",
            "hone validate --with '{\"path\": \"tasks\"}' my_dataset.so   # passed to create() and "
            "open()",
            "hone validate --json my_reward.so"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "PLUGIN",
                  .doc = "shared library or Python file",
                  .value = "FILE",
                  .required = true},
                 path_);
    options.text({.name = "--with", .doc = "configuration of the plugin, as JSON", .value = "JSON"},
                 with_);
    options.integer({.name = "--timeout",
                     .doc = "time limit of one check (s, default: 10)",
                     .value = "SECONDS"},
                    timeout_s_, 1, 3600);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print JSON"}, json_);
    options.text(
        {.name = "--check", .doc = "run one check in this process", .value = "ID", .hidden = true},
        check_);
  }

  int run(Terminal& terminal) override {
    if (!check_.empty()) return run_validation_check(path_, check_, plugin_services());
    Result<Value> with = with_.empty() ? Value::map() : from_json(with_);
    if (!with || !with->is_map()) {
      return terminal.fail(invalid_argument("--with: expected a JSON object, found " + with_));
    }
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    terminal.status("checking " + path_ + "…");
    CheckProcessOptions options;
    options.timeout_s = static_cast<double>(timeout_s_);
    options.config_json = with_;
    PluginHostOptions hosts = plugin_host_options(loaded->config);
    hosts.call_s = options.timeout_s;
    const auto report = path_.ends_with(".py") ? validate_python(path_, hosts, *with)
                                               : validate_plugin(path_, "/proc/self/exe", options);
    if (!report)
      return terminal.fail(report.error(), "create a plugin from a template: hone new reward NAME");
    return json_ ? print_json(terminal, *report) : print(terminal, *report);
  }

 private:
  static int print_json(Terminal& terminal, const ValidationReport& report) {
    Value checks = Value::array();
    for (const ValidatedCheck& check : report.checks) {
      checks.push(Value::map({{"id", check.id},
                              {"title", check.title},
                              {"outcome", check_outcome_name(check.result.outcome)},
                              {"message", check.result.message}}));
    }
    terminal.json(Value::map({{"name", report.name},
                              {"version", report.version},
                              {"ok", report.ok()},
                              {"checks", checks}}),
                  2);
    return report.ok() ? kExitOk : kExitNo;
  }

  int print(Terminal& terminal, const ValidationReport& report) const {
    std::vector<Row> rows;
    for (const ValidatedCheck& check : report.checks) {
      const Colour colour = colour_of(check.result.outcome);
      rows.push_back({{std::string(check_outcome_name(check.result.outcome)), colour},
                      {check.id},
                      {check.result.message.empty() ? check.title : check.result.message}});
    }
    terminal.table({"outcome", "check", ""}, rows);
    terminal.line();
    const std::string who = report.name.empty() ? path_ : report.name + " " + report.version;
    terminal.line(report.ok() ? terminal.paint(Colour::kGreen, who + " is valid")
                              : terminal.paint(Colour::kRed, who + " is not valid"));
    if (report.ok()) terminal.line("  use it: hone serve --set " + setting(report));
    return report.ok() ? kExitOk : kExitNo;
  }

  /// The option that makes a server use it. A plugin that is reward and dataset counts as a reward.
  std::string setting(const ValidationReport& report) const {
    const auto offers = [&](std::string_view kind) {
      return std::any_of(report.checks.begin(), report.checks.end(),
                         [&](const ValidatedCheck& check) { return check.id.starts_with(kind); });
    };
    const std::string path = path_.find('/') == std::string::npos ? "./" + path_ : path_;
    if (offers("reward.")) return "reward.name=" + path;
    if (offers("environment.")) return "environment.name=" + path;
    if (offers("dataset.")) {
      return "'datasets=[{name: " + report.name + ", plugin: " + path +
             ", config: " + (with_.empty() ? "{}" : with_) + "}]'";
    }
    if (offers("backend.")) {
      return "backend=" + report.name + " --set 'plugins={paths: [" + path +
             "], in_process: true}'";
    }
    return "'plugins.paths=[" + path + "]'";
  }

  ConfigOptions config_;
  std::string path_, with_, check_;
  std::int64_t timeout_s_ = 10;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_validate_command() { return std::make_unique<ValidateCommand>(); }

}  // namespace hone
