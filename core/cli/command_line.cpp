// The only file that includes CLI11: translates declarations to CLI11's options, and its errors to hone's.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "cli/help_text.hpp"
#include "hone/version.h"

namespace hone {
namespace {

/// Declares into a CLI11 app.
class ParserOptions : public OptionSet {
 public:
  explicit ParserOptions(CLI::App& app) : app_(app) {}

  void flag(const OptionSpec& spec, bool& target) override {
    finish(app_.add_flag(spec.name, target), spec);
  }
  void text(const OptionSpec& spec, std::string& target) override {
    CLI::Option* option = app_.add_option(spec.name, target);
    finish(option, spec);
    const auto [other, is_first] = texts_.try_emplace(&target, option);
    if (is_first) return;
    // CLI11 sets targets in the order of declaration, so `first` has set the target before this check.
    option->check([&target, first = other->second](const std::string& given) {
      return first->count() == 0 || target == given
                 ? std::string()
                 : "found " + given + " and " + first->get_name() + " " + target +
                       ", expected one of them";
    });
  }
  void texts(const OptionSpec& spec, std::vector<std::string>& target) override {
    CLI::Option* option = app_.add_option(spec.name, target);
    // An option takes one value each time it is given: "--set a=1 --set b=2"; a positional takes
    // all that follow.
    if (spec.name.front() == '-')
      option->type_size(1)
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(
              false);  // on by default for vectors; it would consume a positional argument that follows
    finish(option, spec);
  }
  void integer(const OptionSpec& spec, std::int64_t& target, std::int64_t low,
               std::int64_t high) override {
    const std::string range = range_text(low, high);
    CLI::Option* option = app_.add_option(spec.name, target);
    option->check([range, low, high](const std::string& given) {
      std::int64_t number = 0;
      const char* end = given.data() + given.size();
      const auto read = std::from_chars(given.data(), end, number);
      const bool good =
          read.ec == std::errc() && read.ptr == end && number >= low && number <= high;
      return good ? std::string() : "found '" + given + "', expected an integer, " + range;
    });
    finish(option, spec);
  }

 private:
  static void finish(CLI::Option* option, const OptionSpec& spec) {
    if (spec.required) option->required();
    if (spec.hidden) option->group("");
    if (!spec.choices.empty()) {
      option->check([choices = spec.choices](const std::string& given) {
        const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
        return known ? std::string() : unknown_name("value", given, choices);
      });
    }
  }

  CLI::App& app_;
  std::map<const std::string*, CLI::Option*> texts_;
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Adds the nearest valid name to CLI11's error.
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

Command* find_command(const Commands& commands, const std::string& name) {
  for (const auto& command : commands) {
    if (command->name() == name) return command.get();
  }
  return nullptr;
}

}  // namespace

int run_command_line(Commands commands, int argc, const char* const* argv, Terminal& terminal) {
  for (const auto& command : commands) {
    if (argc < 3 || !command->passes_on() || command->name() != argv[1]) continue;
    command->take_all({argv + 2, argv + argc});
    const std::string_view first = argv[2];
    if (first != "-h" && first != "--help") return command->run(terminal);
  }
  CLI::App app("", "hone");
  app.set_version_flag("--version", "hone " HONE_VERSION_STRING, "print the version and exit");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(0, 1);
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), "");
    ParserOptions options(*sub);
    command->declare(options);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    Command* command =
        chosen.empty() ? nullptr : find_command(commands, chosen.front()->get_name());
    terminal.text(command == nullptr ? hone_help(commands, terminal.columns())
                                     : command_help(*command, terminal.columns()));
    return kExitOk;
  } catch (const CLI::CallForVersion&) {
    terminal.line("hone " HONE_VERSION_STRING);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string which = chosen.empty() ? "hone" : "hone " + chosen.front()->get_name();
    return terminal.fail(invalid_argument(explain(error, app)), "see: " + which + " --help");
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    terminal.text(hone_help(commands, terminal.columns()));
    return kExitUsage;
  }
  return find_command(commands, chosen.front()->get_name())->run(terminal);
}

}  // namespace hone
