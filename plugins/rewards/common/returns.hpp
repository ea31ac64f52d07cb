// What the rewards here share: the parameters of the return and of the speedup, read once and
// applied in one way.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "hone/plugin.hpp"

namespace hone::rewards {

using namespace hone::plugin;  // the rewards are plugins and nothing else

/// Which figure of a measured speedup is rewarded.
enum class Estimate {
  kAuto,   ///< the point estimate; of a measurement with a flag the interval's lower end
  kPoint,  ///< the point estimate
  kLower,  ///< the interval's lower end
};

inline Estimate read_estimate(const std::string& name) {
  if (name == "point") return Estimate::kPoint;
  return name == "lower" ? Estimate::kLower : Estimate::kAuto;
}

inline double figure_of(const Speedup& speedup, Estimate estimate) {
  switch (estimate) {
    case Estimate::kPoint:
      return speedup.value;
    case Estimate::kLower:
      return speedup.low;
    case Estimate::kAuto:
      break;
  }
  return speedup.estimate();
}

/// The choices of one configuration.
struct Rules {
  ReturnRule returns;
  Estimate estimate = Estimate::kAuto;
  double speedup_cap = 0;  ///< 0: none

  /// The speedup that is rewarded; nullopt unless the turn is correct and was measured.
  std::optional<double> speedup(const Turn& turn) const {
    if (!turn.correct() || !turn.speedup) return std::nullopt;
    const double figure = figure_of(*turn.speedup, estimate);
    return speedup_cap > 0 ? std::min(figure, speedup_cap) : figure;
  }
};

/// Parameters with the defaults of a reward's source: `return_kind` is "sum" or "forward".
inline Parameters shared_parameters(double gamma, std::string return_kind) {
  return {
      number_parameter("gamma", gamma, 0, 1, "discount per scored turn"),
      integer_parameter(
          "horizon", 0, 0, 1 << 20,
          "turns that a return looks ahead, its own included; 0: to the end of the episode"),
      choice_parameter(
          "return", std::move(return_kind), {"sum", "forward"},
          "sum: the trajectory's for every turn; forward: each turn's own, discounted from it"),
      choice_parameter(
          "estimate", "auto", {"auto", "point", "lower"},
          "the speedup rewarded: the point estimate or its interval's lower end; auto: the lower "
          "end where the measurement has a flag, such as noisy"),
      choice_parameter("speedup", "", {"", "value", "low"},
                       "deprecated: value is estimate: point, low is estimate: lower"),
  };
}

/// One more for rewards that pay for the speedup itself.
inline Parameters with_speedup_cap(Parameters parameters, double cap) {
  parameters.push_back(
      number_parameter("speedup_cap", cap, 0, 1e6, "a speedup above counts as this; 0: no cap"));
  return parameters;
}

/// The old parameter counts where it is set, so that configurations of the last release go on.
inline std::string estimate_named(const Config& config) {
  const std::string old = config.text("speedup");
  if (old.empty()) return config.text("estimate");
  return old == "value" ? "point" : "lower";
}

inline Rules read_rules(const Config& config) {
  return {{config.number("gamma"), config.integer("horizon"), config.text("return") == "forward"},
          read_estimate(estimate_named(config))};
}
inline Rules read_capped_rules(const Config& config) {
  Rules rules = read_rules(config);
  rules.speedup_cap = config.number("speedup_cap");
  return rules;
}

}  // namespace hone::rewards
