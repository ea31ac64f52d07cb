// Command: a subcommand of hone, with options, help and action.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/load_config.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// An option or, when its name does not begin with "-", a positional argument.
struct OptionSpec {
  std::string name;  ///< "--json", "-c,--config" or "TASK"
  std::string doc;
  std::string value =
      {};  ///< of options that take one: "FILE", "TASK", "KEY=VALUE"; FILE and TASK complete
  std::vector<std::string> choices = {};
  bool required = false;
  bool hidden = false;
};

/// Receives the declarations of a command's options, for the parser, help and completions.
class OptionSet {
 public:
  virtual ~OptionSet() = default;
  virtual void flag(const OptionSpec& spec, bool& target) = 0;
  /// A positional argument and an option may share a target. If both are given, their texts must be equal.
  virtual void text(const OptionSpec& spec, std::string& target) = 0;
  virtual void texts(const OptionSpec& spec, std::vector<std::string>& target) = 0;
  virtual void integer(const OptionSpec& spec, std::int64_t& target, std::int64_t low,
                       std::int64_t high) = 0;
};

/// Used once: declare() binds members to options, the parser sets them, and run() executes.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  /// Lines of the form "hone … # purpose".
  virtual std::vector<std::string> examples() const = 0;
  virtual void declare(OptionSet& options) = 0;
  /// Returns an ExitCode.
  virtual int run(Terminal& terminal) = 0;
  /// True: take_all() gets the rest of the command line, for another program. declare() is only for help and completion.
  virtual bool passes_on() const { return false; }
  virtual void take_all(std::vector<std::string> /*arguments*/) {}
};

using Commands = std::vector<std::unique_ptr<Command>>;

std::unique_ptr<Command> make_serve_command();
std::unique_ptr<Command> make_status_command();
std::unique_ptr<Command> make_top_command();
std::unique_ptr<Command> make_web_command();
std::unique_ptr<Command> make_view_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_metrics_command();
std::unique_ptr<Command> make_demo_command();
std::unique_ptr<Command> make_eval_command();
std::unique_ptr<Command> make_tasks_command();
std::unique_ptr<Command> make_plan_command();
std::unique_ptr<Command> make_profile_command();
std::unique_ptr<Command> make_tool_command();
std::unique_ptr<Command> make_prompt_command();
std::unique_ptr<Command> make_rollout_command();
std::unique_ptr<Command> make_gateway_command();
std::unique_ptr<Command> make_kernelbench_command();
std::unique_ptr<Command> make_plugins_command();
std::unique_ptr<Command> make_validate_command();
std::unique_ptr<Command> make_new_command();
std::unique_ptr<Command> make_keys_command();
std::unique_ptr<Command> make_episodes_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_rescore_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_traces_command();
std::unique_ptr<Command> make_branch_command();
std::unique_ptr<Command> make_journal_command();
std::unique_ptr<Command> make_verdicts_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_config_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_help_command();
std::unique_ptr<Command> make_version_command();

/// All commands, in the order of the help.
Commands make_commands();

/// Parses the command line and runs one command. Returns the process' exit status.
int run_command_line(Commands commands, int argc, const char* const* argv, Terminal& terminal);

/// The options that many commands share.
struct ConfigOptions {
  std::string file;
  std::vector<std::string> sets;
  /// `positional`: the file may be a positional argument, too.
  void declare(OptionSet& options, bool positional = false);
  /// Loads the configuration. `more`: --set arguments of the command's own, which take precedence.
  Result<LoadedConfig> load(const std::vector<std::string>& more = {}) const;
  /// Prints an error of the configuration, with advice.
  int fail(Terminal& terminal, const Error& error) const;
};

}  // namespace hone
