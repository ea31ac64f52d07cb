// `hone help` and `hone version`: what --help and --version print, asked for as a command.
#include "cli/command.hpp"
#include "hone/version.h"

namespace hone {
namespace {

class HelpCommand : public Command {
 public:
  std::string name() const override { return "help"; }
  std::string summary() const override { return "Print the help of hone, or of one command."; }
  std::vector<std::string> examples() const override {
    return {"hone help", "hone help serve   # the same as hone serve --help"};
  }
  void declare(OptionSet& options) override {
    std::vector<std::string> names;
    for (const auto& command : make_commands()) names.push_back(command->name());
    options.text({.name = "COMMAND", .doc = "command to explain", .choices = std::move(names)},
                 command_);
  }
  int run(Terminal& terminal) override {
    std::vector<const char*> arguments{"hone"};
    if (!command_.empty()) arguments.push_back(command_.c_str());
    arguments.push_back("--help");
    return run_command_line(make_commands(), static_cast<int>(arguments.size()), arguments.data(),
                            terminal);
  }

 private:
  std::string command_;
};

class VersionCommand : public Command {
 public:
  std::string name() const override { return "version"; }
  std::string summary() const override { return "Print the version."; }
  std::vector<std::string> examples() const override { return {"hone version"}; }
  void declare(OptionSet& /*options*/) override {}
  int run(Terminal& terminal) override {
    terminal.line("hone " HONE_VERSION_STRING);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<Command> make_help_command() { return std::make_unique<HelpCommand>(); }
std::unique_ptr<Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace hone
