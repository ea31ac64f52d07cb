// Reads the settings of an episode.
#include "kernel_refine/settings.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kHardwareMax = 4096;
constexpr std::int64_t kTokensMin = 64, kTokensMax = 65536;

}  // namespace

std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages) {
  auto settings = std::make_shared<RefineSettings>();
  settings->rules = read_turn_rules(f, defaults.rules);
  settings->feedback_tokens =
      f.integer_or("feedback_tokens", defaults.feedback_tokens, kTokensMin, kTokensMax);
  settings->language = f.choice_or("language", "", languages);
  settings->prompt = f.choice_or("prompt", defaults.prompt, prompt_forms());
  settings->hardware = f.text_or("hardware", defaults.hardware, kHardwareMax);
  return settings;
}

Value describe_settings(const KernelRefineOptions& defaults) {
  Value options = describe_turn_rules(defaults.rules);
  options.set("feedback_tokens", defaults.feedback_tokens);
  options.set("language", Value());
  options.set("prompt", defaults.prompt);
  options.set("hardware", defaults.hardware);
  return options;
}

}  // namespace hone::kernel_refine
