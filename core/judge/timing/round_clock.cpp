#include "judge/timing/round_clock.hpp"

#include "judge/blame.hpp"
#include "judge/fill.hpp"

namespace hone {
namespace {

Judgement judge_round(const Round& round, const Side& side) {
  return round.ending == Ending::kDone
             ? correct_so_far()
             : blame(with_reason(round, side.limit), side.culprit, {Place::kMeasurement});
}

}  // namespace

Side RoundClock::baseline(std::uint64_t secret, std::size_t calls) const {
  return {*input_.baseline.runner,
          Culprit::kBaseline,
          secret,
          {kReferenceSeconds * static_cast<double>(calls)}};
}

Side RoundClock::submission(std::uint64_t secret, std::size_t calls) const {
  return {input_.submission, Culprit::kSubmission, secret,
          call_limit(input_, input_.task.timed, calls)};
}

Judgement RoundClock::load(const Side& side, const PreparedRound& prepared) const {
  return hone::load(prepared.set, side.runner, prepared.layout, side.secret, side.culprit,
                    {Place::kMeasurement});
}

/// Rationale: what a round leaves in the caches, dirty lines above all, slows the next one by a tenth and more.
Status RoundClock::make_cold(const Layout& layout) const {
  if (input_.task.cache_warm) return {};
  return input_.workbench.make_cold(input_.baseline.runner->arena(), input_.submission.arena(),
                                    layout.total);
}

/// Rationale: only the baseline's empty rounds are recorded. Time of a submission's process is never subtracted.
Judgement RoundClock::empty_round(const Side& side) {
  const Round empty = side.runner.timed_round(Order::kNothing, 0, side.limit.seconds);
  if (empty.ending == Ending::kDone && side.is_baseline()) {
    timings_.floors.push_back(empty.seconds - contention_.excused_s(true, empty));
    timings_.wall_floors.push_back(empty.seconds);
  }
  return judge_round(empty, side);
}

/// Rationale: memory that a kernel keeps (tables, packed tiles) is in cache in all calls of a long round but the first. In a
/// single-call round it is not, because other work ran before. Without this call, kernels that use such
/// memory seemed to do a round's work in its first call.
Judgement RoundClock::warm_up(const Side& side, const PreparedRound& prepared) const {
  Side warm = side;
  warm.secret = derive_seed(side.secret, "warm up");
  if (Judgement loaded = load(warm, prepared); !passed(loaded)) return loaded;
  return judge_round(side.runner.timed_round(Order::kRun, prepared.set.calls(), side.limit.seconds),
                     side);
}

Judgement RoundClock::run(const Side& side, const PreparedRound& prepared, double* seconds) {
  const std::size_t calls = prepared.set.calls();
  const bool marked = input_.settings.marked && side.is_baseline();
  const Round round =
      side.runner.timed_round(marked ? Order::kMarked : Order::kRun, calls, side.limit.seconds);
  contention_.note(round);
  if (side.is_baseline())
    timings_.marked.push_back(round.marked_seconds / static_cast<double>(calls));
  *seconds = round.seconds - contention_.excused_s(side.is_baseline(), round);
  return judge_round(round, side);
}

}  // namespace hone
