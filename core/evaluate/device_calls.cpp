// A device's answers to the calls of its judge.
#include "base/clock.hpp"
#include "evaluate/device.hpp"

namespace hone {

JudgeCallbacks Device::judge_callbacks() {
  JudgeCallbacks callbacks;
  callbacks.quiet = [this] { return answer_quiet(); };
  callbacks.share = [this] { return answer_share(); };
  callbacks.yield = [this](bool still) { return answer_yield(still); };
  callbacks.end = [this] { return end_running(); };
  callbacks.ends_s = [this] { return ends_s_; };
  callbacks.work = [this] { return work_; };
  return callbacks;
}

/// What this lane does, for log lines of its own and of lanes that wait for it.
void Device::set_work(const std::string& step) {
  work_ = step + (task_id_.empty() ? "" : " " + task_id_);
  turn_.set_work(work_);
}

/// A wait for other lanes is none of the job's own time.
void Device::note_wait(double from_s) {
  ends_s_ += monotonic_s() - from_s;
  tell_waited(from_s);
}

void Device::begin_stage(JudgeStage stage, const DeviceJob& job) {
  // The judge has its hands full, and measures nothing.
  if (stage == JudgeStage::kCheck) start_missing(false);
  set_work(std::string(enum_name(stage)));
  if (job.progress) job.progress(stage);
}

/// The judge wants to measure.
Result<bool> Device::answer_quiet() {
  const double from_s = monotonic_s();
  wait_until_open(kOpenSeconds);
  const Status alone = turn_.have_alone();
  note_wait(from_s);
  gave_up_ = !alone;
  if (!alone) return alone.error();
  return turn_.beside_others();
}

Status Device::answer_share() {
  const double from_s = monotonic_s();
  const Status shares = turn_.share();
  note_wait(from_s);
  gave_up_ = !shares;
  // For the next ones, while what was measured is checked. Native code that has the device whole does not ask again
  // before it is measured.
  if (shares && !turn_.has_whole()) open_ahead();
  return shares;
}

/// The judge offers to yield between two pieces of work. If its submission is frozen, the lane yields now. Otherwise the
/// answer tells the judge whether to freeze it first.
Result<bool> Device::answer_yield(bool still) {
  if (still && turn_.is_in_the_way()) {
    const double from_s = monotonic_s();
    // Making or ending a context disturbs a measurement.
    await_last();
    wait_until_open(kOpenSeconds);
    const Status shares = turn_.give_way();
    note_wait(from_s);
    gave_up_ = !shares;
    if (!shares) return shares.error();
  }
  return !still && turn_.is_in_the_way();
}

/// The judge has seen enough of the submission, and wants it gone.
Status Device::end_running() {
  Process* process = nullptr;
  {
    MutexLock lock(mutex_);
    process = running_;
  }
  if (process == nullptr) return internal_error("the judge ended what does not run");
  process->kill();
  const auto exit = process->wait(kGoneSeconds);
  return exit ? Status() : Status(exit.error());
}

void Device::stop_judge() {
  MutexLock lock(state_mutex_);  // a lane that waited in vain for its turn has none
  // The judge goes first: it thaws what it holds, and then the launcher can end all of them.
  judge_.stop();
  for (auto& [key, installed] : installed_) {
    let_go(std::move(installed.reference));
    let_go(std::move(installed.baseline));
  }
  installed_.clear();
  ages_.clear();
  for (auto& [owner, kept] : kept_) let_go(std::move(kept.process));
  kept_.clear();
  kept_ages_.clear();
}

}  // namespace hone
