// Reads the settings of an episode.
#include "kernel_refine/settings.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kHardwareMax = 4096;
constexpr std::int64_t kToolNumberMax = 1000;
constexpr std::int64_t kFeedbackTokensMin = 64, kFeedbackTokensMax = 65536;

/// A number for each tool. The option replaces all defaults: a tool that it does not name has 0.
std::map<Tool, std::int64_t> read_tools(Fields& f, std::string_view key,
                                        const std::map<Tool, std::int64_t>& defaults) {
  const Value* given = f.map_or_null(key);
  if (given == nullptr) return defaults;
  std::map<Tool, std::int64_t> numbers;
  Fields named = f.inside(key, *given);
  for (std::size_t i = 0; i < std::size(EnumNames<Tool>::kNames); ++i) {
    const auto tool = static_cast<Tool>(i);
    numbers[tool] = named.integer_or(enum_name(tool), 0, 0, kToolNumberMax);
  }
  f.adopt(named.finish());
  return numbers;
}

Value tools_value(const std::map<Tool, std::int64_t>& numbers) {
  Value value = Value::map();
  for (const auto& [tool, number] : numbers) value.set(enum_name(tool), number);
  return value;
}

}  // namespace

std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages) {
  auto settings = std::make_shared<RefineSettings>();
  settings->rules = read_turn_rules(f, defaults.rules);
  settings->feedback_tokens = f.integer_or("feedback_tokens", defaults.feedback_tokens,
                                           kFeedbackTokensMin, kFeedbackTokensMax);
  settings->profile =
      f.choice_or("feedback_profile", defaults.feedback_profile,
                  {std::string(kProfileOff), std::string(kProfileAuto)}) == kProfileAuto;
  settings->language = f.choice_or("language", "", languages);
  settings->prompt = f.choice_or("prompt", defaults.prompt, prompt_forms());
  settings->tools.uses = read_tools(f, "tools", defaults.tools.uses);
  settings->tools.turns = read_tools(f, "tool_turns", defaults.tools.turns);
  settings->hardware = f.text_or("hardware", defaults.hardware, kHardwareMax);
  return settings;
}

Value describe_settings(const KernelRefineOptions& defaults) {
  Value options = describe_turn_rules(defaults.rules);
  options.set("feedback_tokens", defaults.feedback_tokens);
  options.set("feedback_profile", defaults.feedback_profile);
  options.set("language", Value());
  options.set("tools", tools_value(defaults.tools.uses));
  options.set("tool_turns", tools_value(defaults.tools.turns));
  options.set("prompt", defaults.prompt);
  options.set("hardware", defaults.hardware);
  return options;
}

}  // namespace hone::kernel_refine
