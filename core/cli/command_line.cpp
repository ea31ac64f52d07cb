// The one file that includes CLI11: commands' declarations become its option tree, its errors ours.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/nearest.hpp"
#include "base/readable.hpp"
#include "cli/command.hpp"
#include "hone/version.h"

namespace hone {
namespace {

/// "2 to 1,000,000"; "0 or more".
std::string range_text(std::int64_t low, std::int64_t high) {
  if (high == INT64_MAX) return grouped_number(low) + " or more";
  return grouped_number(low) + " to " + grouped_number(high);
}

/// Declares into a CLI11 app.
class ParserOptions : public OptionSet {
 public:
  explicit ParserOptions(CLI::App& app) : app_(app) {}

  void flag(const OptionSpec& spec, bool& target) override {
    finish(app_.add_flag(spec.name, target, spec.doc), spec);
  }
  void text(const OptionSpec& spec, std::string& target) override {
    finish(app_.add_option(spec.name, target, spec.doc), spec);
  }
  void texts(const OptionSpec& spec, std::vector<std::string>& target) override {
    CLI::Option* option = app_.add_option(spec.name, target, spec.doc);
    // An option takes one value each time it is given: "--set a=1 --set b=2"; a positional takes
    // all that follow.
    if (spec.name.front() == '-')
      option->type_size(1)
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);  // which a vector turns on: it would eat a positional after it
    finish(option, spec);
  }
  void integer(const OptionSpec& spec, std::int64_t& target, std::int64_t low,
               std::int64_t high) override {
    const std::string range = range_text(low, high);
    CLI::Option* option = app_.add_option(spec.name, target, spec.doc);
    option->check([range, low, high](const std::string& given) {
      std::int64_t number = 0;
      const char* end = given.data() + given.size();
      const auto read = std::from_chars(given.data(), end, number);
      const bool good =
          read.ec == std::errc() && read.ptr == end && number >= low && number <= high;
      return good ? std::string() : "found '" + given + "', expected an integer, " + range;
    });
    finish(option, spec);
    option->type_name((spec.value.empty() ? "N" : spec.value) + " (" + range + ")");
  }

 private:
  static void finish(CLI::Option* option, const OptionSpec& spec) {
    if (spec.required) option->required();
    if (spec.hidden) option->group("");
    if (!spec.value.empty()) option->type_name(spec.value);
    if (!spec.choices.empty()) {
      option->check([choices = spec.choices](const std::string& given) {
        const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
        return known ? std::string() : unknown_name("value", given, choices);
      });
      std::string names;
      for (const std::string& choice : spec.choices) names += (names.empty() ? "" : "|") + choice;
      option->type_name(names);
    }
  }

  CLI::App& app_;
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Says the nearest valid name where CLI11 would only say what it did not expect.
std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& at = chosen.empty() ? app : *chosen.front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> extras = app.remaining(true);
    const std::string extra = extras.empty() ? "" : extras.front();
    if (!extra.empty() && extra.front() == '-') {
      return unknown_name("option", extra.substr(0, extra.find('=')), option_names(at));
    }
    if (chosen.empty()) {
      std::vector<std::string> names;
      for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
      return unknown_name("command", extra, names);
    }
    return "unexpected argument '" + extra + "'";
  }
  std::string text = error.what();
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

std::string footer(const Command& command) {
  std::string text = "Examples:";
  for (const std::string& example : command.examples()) text += "\n  " + example;
  return text;
}

constexpr const char* kEpilogue =
    "Examples:\n"
    "  hone demo                             # four turns of an episode, on this machine\n"
    "  hone serve                            # serve trainers on tcp://127.0.0.1:5917\n"
    "  hone eval add_relu kernel.cpp         # judge and time a kernel, no server needed\n"
    "  hone doctor                           # what this machine allows\n\n"
    "Exit status: 0 fine, 1 the answer is no, 2 wrong usage, 3 the machine failed.";

}  // namespace

int run_command_line(Commands commands, int argc, const char* const* argv, Terminal& terminal) {
  for (const auto& command : commands) {
    if (argc < 3 || !command->passes_on() || command->name() != argv[1]) continue;
    command->take_all({argv + 2, argv + argc});
    const std::string_view first = argv[2];
    if (first != "-h" && first != "--help") return command->run(terminal);
  }
  CLI::App app("An RL environment server whose episodes refine compute kernels.", "hone");
  app.set_version_flag("--version", "hone " HONE_VERSION_STRING, "print the version and exit");
  app.get_formatter()->column_width(34);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(0, 1);
  app.footer(kEpilogue);
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    sub->footer(footer(*command));
    ParserOptions options(*sub);
    command->declare(options);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // help or version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string which = chosen.empty() ? "hone" : "hone " + chosen.front()->get_name();
    return terminal.fail(invalid_argument(explain(error, app)), "see: " + which + " --help");
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    terminal.line(app.help());
    return kExitUsage;
  }
  for (const auto& command : commands) {
    if (command->name() == chosen.front()->get_name()) return command->run(terminal);
  }
  return kExitUsage;
}

}  // namespace hone
