// Computes stage durations backwards: each stage ends where the next one begins.
#include "evaluate/stage_times.hpp"

#include <algorithm>
#include <string>

#include "base/clock.hpp"

namespace hone {
namespace {

double ms(double from_s, double to_s) {
  return from_s > 0 && to_s > from_s ? (to_s - from_s) * 1e3 : 0;
}

}  // namespace

void StageTimes::begin(JudgeStage stage) {
  const double now = monotonic_s();
  if (taken_s == 0) taken_s = now;
  if (stage == JudgeStage::kPrepare) begun_s.clear();
  begun_s[stage] = now;
}

double StageTimes::begun(JudgeStage stage) const {
  const auto found = begun_s.find(stage);
  return found == begun_s.end() ? 0.0 : found->second;
}

double StageTimes::waited_ms(double from_s, double to_s) const {
  double waited = 0;
  for (const auto& [from, to] : waits_s) waited += ms(std::max(from, from_s), std::min(to, to_s));
  return waited;
}

double StageTimes::prepare_s() const {
  const double from_s = begun(JudgeStage::kPrepare), to_s = begun(JudgeStage::kLoad);
  return std::max(0.0, ms(from_s, to_s) - waited_ms(from_s, to_s)) / 1e3;
}

void StageTimes::fill(Verdict& verdict) const {
  const double now = monotonic_s();
  verdict.stage_ms["queue"] = ms(submitted_s, building_s) + ms(built_s, taken_s);
  verdict.stage_ms["build"] = ms(building_s, built_s);
  const double prepared_s = begun(JudgeStage::kPrepare);
  if (prepared_s > taken_s) verdict.stage_ms["attempts"] = ms(taken_s, prepared_s);
  double end_s = second_look_s > 0 ? second_look_s : now;
  for (const JudgeStage stage :
       {JudgeStage::kMeasure, JudgeStage::kCheck, JudgeStage::kLoad, JudgeStage::kPrepare}) {
    const double waited = begun(stage) > 0 ? waited_ms(begun(stage), end_s) : 0;
    verdict.stage_ms[std::string(enum_name(stage))] = ms(begun(stage), end_s) - waited;
    verdict.stage_ms["wait"] += waited;
    if (begun(stage) > 0) end_s = begun(stage);
  }
  if (second_look_s > 0) verdict.stage_ms["second_look"] = ms(second_look_s, now);
  verdict.stage_ms["total"] = ms(submitted_s, now);
}

}  // namespace hone
