#include "judge/timing/round_size.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "channel/control.hpp"
#include "judge/checking/trials.hpp"
#include "judge/layout.hpp"
#include "judge/timing/round_times.hpp"

namespace hone {
namespace {

// Maximum length of a round, as a multiple of `round_ms`, if it gets more calls to fit all families (docs/adr/0025).
constexpr double kRoundFactor = 8;
// Maximum time of the reference's answers to a round, as a multiple of `round_ms`. Every timed output is checked.
constexpr double kAnswerShare = 4;

Result<std::uint64_t> call_bytes(const Task& task, bool exact) {
  HONE_ASSIGN(const Layout one, lay_out(task, task.timed, 1, Placement::kDevice, exact));
  return one.total;
}

}  // namespace

std::size_t round_calls(const Task& task, const MeasureSettings& settings, double call_seconds) {
  const auto bytes = call_bytes(task, true);
  const double fit =
      bytes ? static_cast<double>(settings.set_mb << 20) / static_cast<double>(*bytes) : 1;
  const double call_s = std::max(call_seconds, kCallLeast), round_s = settings.round_ms * 1e-3;
  const double most = std::min(fit, static_cast<double>(kCallsMax));
  const double wanted = std::clamp(std::ceil(round_s / call_s), 1.0, std::max(most, 1.0));
  // Rationale: a call's time may depend on its inputs, so rounds with the same share of each family agree best.
  const auto families = static_cast<double>(timed_family_count(task, settings.defences));
  const double whole = std::ceil(wanted / families) * families;
  const bool fits = whole <= most && whole * call_s <= kRoundFactor * round_s;
  return static_cast<std::size_t>(fits ? whole : wanted);
}

std::size_t round_calls(const Task& task, const MeasureSettings& settings,
                        const Calibration& baseline) {
  const std::size_t calls = round_calls(task, settings, baseline.call_seconds);
  if (baseline.answer_seconds <= 0) return calls;
  const double most = kAnswerShare * settings.round_ms * 1e-3 / baseline.answer_seconds;
  return std::min(calls, static_cast<std::size_t>(std::clamp(most, 1.0, 1e6)));
}

Result<std::uint64_t> arena_bytes(const Task& task, const MeasureSettings& settings, bool exact,
                                  double call_seconds, const Plans& plans) {
  HONE_ASSIGN(const std::uint64_t one, call_bytes(task, exact));
  // Rationale: a plan that is impossible at a shape fails when the shape is run, as its author's mistake.
  const auto scratch = [&](const Dims& dims) {
    const auto needed = plans.scratch_bytes(dims);
    return needed ? *needed : std::uint64_t{0};
  };
  std::uint64_t bytes = one * round_calls(task, settings, call_seconds) + scratch(task.timed);
  std::vector<Dims> shapes = task.shown;
  for (const HiddenShape& hidden : task.hidden) {
    Dims largest;
    for (const auto& [dim, range] : hidden.ranges) largest[dim] = range.second;
    shapes.push_back(std::move(largest));
  }
  for (const Dims& dims : shapes) {
    for (const Placement placement : {Placement::kDevice, Placement::kGuards}) {
      HONE_ASSIGN(const Layout layout, lay_out(task, dims, 1, placement, exact));
      bytes = std::max(bytes, layout.total + scratch(dims));
    }
  }
  return bytes;
}

}  // namespace hone
