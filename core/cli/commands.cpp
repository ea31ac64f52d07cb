// The list of commands, and the options that several of them share.
#include "cli/command.hpp"

namespace hone {

Commands make_commands() {
  Commands commands;
  commands.push_back(make_serve_command());
  commands.push_back(make_status_command());
  commands.push_back(make_metrics_command());
  commands.push_back(make_top_command());
  commands.push_back(make_web_command());
  commands.push_back(make_demo_command());
  commands.push_back(make_eval_command());
  commands.push_back(make_tasks_command());
  commands.push_back(make_profile_command());
  commands.push_back(make_tool_command());
  commands.push_back(make_plan_command());
  commands.push_back(make_prompt_command());
  commands.push_back(make_rollout_command());
  commands.push_back(make_gateway_command());
  commands.push_back(make_kernelbench_command());
  commands.push_back(make_plugins_command());
  commands.push_back(make_validate_command());
  commands.push_back(make_new_command());
  commands.push_back(make_episodes_command());
  commands.push_back(make_export_command());
  commands.push_back(make_rescore_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_branch_command());
  commands.push_back(make_view_command());
  commands.push_back(make_report_command());
  commands.push_back(make_journal_command());
  commands.push_back(make_traces_command());
  commands.push_back(make_keys_command());
  commands.push_back(make_verdicts_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_config_command());
  commands.push_back(make_completion_command());
  commands.push_back(make_help_command());
  commands.push_back(make_version_command());
  return commands;
}

int ConfigOptions::fail(Terminal& terminal, const Error& error) const {
  if (error.code != Code::kInvalidArgument) return terminal.fail(error);
  return terminal.fail(error, "list all keys: hone config --keys");
}

void ConfigOptions::declare(OptionSet& options, bool positional) {
  if (positional) {
    options.text({.name = "CONFIG", .doc = "the same as -c FILE", .value = "FILE"}, file);
  }
  options.text({.name = "-c,--config",
                .doc = "configuration file (default: built-in values)",
                .value = "FILE"},
               file);
  options.texts({.name = "--set",
                 .doc = "override one key: --set server.lease_s=60 (repeatable)",
                 .value = "KEY=VALUE"},
                sets);
}

Result<LoadedConfig> ConfigOptions::load(const std::vector<std::string>& more) const {
  std::vector<std::string> all = sets;
  all.insert(all.end(), more.begin(), more.end());
  return load_config(file, all);
}

}  // namespace hone
