// Reads the settings of an episode.
#include "kernel_refine/settings.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kHardwareMax = 4096;
constexpr std::int64_t kToolUsesMax = 1000;
constexpr std::int64_t kTokensMin = 64, kTokensMax = 65536;

/// The option replaces all defaults: a tool that it does not name has no use.
ToolBudget read_tools(Fields& f, const ToolBudget& defaults) {
  const Value* given = f.map_or_null("tools");
  if (given == nullptr) return defaults;
  ToolBudget budget;
  Fields uses = f.inside("tools", *given);
  for (std::size_t i = 0; i < std::size(EnumNames<Tool>::kNames); ++i) {
    const auto tool = static_cast<Tool>(i);
    budget[tool] = uses.integer_or(enum_name(tool), 0, 0, kToolUsesMax);
  }
  f.adopt(uses.finish());
  return budget;
}

}  // namespace

std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages) {
  auto settings = std::make_shared<RefineSettings>();
  settings->rules = read_turn_rules(f, defaults.rules);
  settings->feedback_tokens =
      f.integer_or("feedback_tokens", defaults.feedback_tokens, kTokensMin, kTokensMax);
  settings->profile =
      f.choice_or("feedback_profile", defaults.feedback_profile,
                  {std::string(kProfileOff), std::string(kProfileAuto)}) == kProfileAuto;
  settings->language = f.choice_or("language", "", languages);
  settings->prompt = f.choice_or("prompt", defaults.prompt, prompt_forms());
  settings->tools = read_tools(f, defaults.tools);
  settings->hardware = f.text_or("hardware", defaults.hardware, kHardwareMax);
  return settings;
}

Value describe_settings(const KernelRefineOptions& defaults) {
  Value options = describe_turn_rules(defaults.rules);
  options.set("feedback_tokens", defaults.feedback_tokens);
  options.set("feedback_profile", defaults.feedback_profile);
  options.set("language", Value());
  Value tools = Value::map();
  for (const auto& [tool, uses] : defaults.tools) tools.set(enum_name(tool), uses);
  options.set("tools", std::move(tools));
  options.set("prompt", defaults.prompt);
  options.set("hardware", defaults.hardware);
  return options;
}

}  // namespace hone::kernel_refine
