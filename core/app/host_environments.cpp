// The environments of a configuration: built-in ones and plugins.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/host.hpp"
#include "autotune/autotune.hpp"
#include "base/nearest.hpp"
#include "kernel_refine/kernel_refine.hpp"
#include "outside/outside.hpp"

namespace hone {
namespace {

TurnRules turn_rules(const EnvironmentConfig& c) {
  return {.max_turns = c.max_turns,
          .stop_speedup = c.stop_speedup,
          .stop_reward = c.stop_reward,
          .seconds_max = c.seconds_max};
}

}  // namespace

Result<std::unique_ptr<Environment>> open_kernel_refine(const Config& config) {
  KernelRefineOptions refine;
  refine.rules = turn_rules(config.environment);
  refine.feedback_tokens = config.environment.feedback_tokens;
  refine.feedback_profile = config.environment.feedback_profile;
  refine.prompt = config.environment.prompt;
  refine.hardware = config.environment.hardware;
  refine.tools = {config.environment.tools, config.environment.tool_turns};
  refine.own_templates = config.environment.templates;
  refine.source_bytes_max = static_cast<std::size_t>(config.server.limits.source_bytes);
  return make_kernel_refine(refine);
}

Result<Environments> open_environments(const Config& config, const Registry& registry) {
  Environments environments;
  HONE_ASSIGN(std::unique_ptr<Environment> refine, open_kernel_refine(config));
  environments.push_back(std::move(refine));
  environments.push_back(make_autotune({.rules = turn_rules(config.environment)}));
  const PluginEnvironmentOptions hosted{
      .rules = turn_rules(config.environment),
      .source_bytes_max = static_cast<std::size_t>(config.server.limits.source_bytes)};
  std::vector<std::string> names{environments[0]->name(), environments[1]->name()};
  for (const PluginInfo& info : registry.plugins()) {
    if (info.kind != PluginKind::kEnvironment || !info.error.empty()) continue;
    if (std::find(names.begin(), names.end(), info.name) != names.end()) {
      return invalid_argument("environment '" + info.name +
                              "': another environment has this name; rename " + info.path.string());
    }
    HONE_ASSIGN(const Value about, registry.describe(PluginKind::kEnvironment, info.name));
    HONE_ASSIGN(auto calls, registry.open_environment(info.name));
    HONE_ASSIGN(std::unique_ptr<Environment> one,
                make_plugin_environment(info.name, about, std::move(calls), hosted));
    environments.push_back(std::move(one));
    names.push_back(info.name);
  }
  HONE_ASSIGN(const std::string chosen, registry.name_of(config.environment.name));
  if (std::find(names.begin(), names.end(), chosen) == names.end()) {
    return invalid_argument(unknown_name("environment", chosen, names));
  }
  // The default is the first.
  std::stable_partition(environments.begin(), environments.end(),
                        [&chosen](const auto& one) { return one->name() == chosen; });
  return environments;
}

}  // namespace hone
