// Options and stop rules.
#include "kernel_refine/settings.hpp"

#include <limits>

namespace hone::kernel_refine {
namespace {

constexpr std::int64_t kTurnsMax = 1000;
constexpr double kSecondsMax = 30 * 24 * 3600.0;
constexpr std::size_t kHardwareMax = 4096;
constexpr std::int64_t kTokensMin = 64, kTokensMax = 65536;
constexpr double kAny = std::numeric_limits<double>::max();

/// A rule that nil switches off; absent, the default holds.
std::optional<double> rule(Fields& f, std::string_view key, std::optional<double> fallback,
                           double low, double high) {
  if (!f.has(key)) {
    (void)f.value_or_null(key);  // known, though absent
    return fallback;
  }
  if (f.value_or_null(key) == nullptr) return std::nullopt;
  return f.number(key, low, high);
}

Value number_or_nil(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

}  // namespace

std::shared_ptr<const RefineSettings> read_settings(Fields& f, const KernelRefineOptions& defaults,
                                                    const std::vector<std::string>& languages) {
  auto settings = std::make_shared<RefineSettings>();
  settings->max_turns = f.integer_or("max_turns", defaults.max_turns, 1, kTurnsMax);
  settings->stop_speedup = rule(f, "stop_speedup", defaults.stop_speedup, 0, kAny);
  settings->stop_reward = rule(f, "stop_reward", defaults.stop_reward, -kAny, kAny);
  settings->seconds_max = rule(f, "seconds_max", defaults.seconds_max, 0, kSecondsMax);
  settings->feedback_tokens =
      f.integer_or("feedback_tokens", defaults.feedback_tokens, kTokensMin, kTokensMax);
  settings->language = f.choice_or("language", "", languages);
  settings->prompt = f.choice_or("prompt", defaults.prompt, prompt_forms());
  settings->hardware = f.text_or("hardware", defaults.hardware, kHardwareMax);
  return settings;
}

Value describe_settings(const KernelRefineOptions& defaults) {
  return Value::map({{"max_turns", defaults.max_turns},
                     {"stop_speedup", number_or_nil(defaults.stop_speedup)},
                     {"stop_reward", number_or_nil(defaults.stop_reward)},
                     {"seconds_max", number_or_nil(defaults.seconds_max)},
                     {"feedback_tokens", defaults.feedback_tokens},
                     {"language", Value()},
                     {"prompt", defaults.prompt},
                     {"hardware", defaults.hardware}});
}

Stop decide_stop(const RefineSettings& settings, std::size_t turns_before, double seconds_used,
                 const TurnResult& result) {
  const bool measured =
      result.verdict && result.verdict->correct() && result.verdict->speedup.has_value();
  if (settings.stop_speedup && measured &&
      result.verdict->speedup->value >= *settings.stop_speedup) {
    return {true, false, "correct and fast enough"};
  }
  if (settings.stop_reward && result.reward && *result.reward >= *settings.stop_reward) {
    return {true, false, "reward reached"};
  }
  if (static_cast<std::int64_t>(turns_before) + 1 >= settings.max_turns) {
    return {false, true, "turns used up"};
  }
  if (settings.seconds_max && seconds_used >= *settings.seconds_max) {
    return {false, true, "seconds used up"};
  }
  return {};
}

}  // namespace hone::kernel_refine
