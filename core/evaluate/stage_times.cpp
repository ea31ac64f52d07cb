// From the last stage back: each ends where the next one began.
#include "evaluate/stage_times.hpp"

#include "base/clock.hpp"

namespace hone {
namespace {

double ms(double from_s, double to_s) {
  return from_s > 0 && to_s > from_s ? (to_s - from_s) * 1e3 : 0;
}

}  // namespace

void StageTimes::fill(Verdict& verdict) const {
  const double now = monotonic_s();
  const auto begun = [this](const char* stage) {
    const auto found = begun_s.find(stage);
    return found == begun_s.end() ? 0.0 : found->second;
  };
  verdict.stage_ms["queue"] = ms(submitted_s, building_s) + ms(built_s, begun("prepare"));
  verdict.stage_ms["build"] = ms(building_s, built_s);
  double end_s = second_look_s > 0 ? second_look_s : now;
  for (const char* stage : {"measure", "check", "load", "prepare"}) {
    verdict.stage_ms[stage] = ms(begun(stage), end_s);
    if (begun(stage) > 0) end_s = begun(stage);
  }
  if (second_look_s > 0) verdict.stage_ms["second_look"] = ms(second_look_s, now);
  verdict.stage_ms["total"] = ms(submitted_s, now);
}

}  // namespace hone
