// Answers from a script, at once or when released.
#include "episode/scripted_evaluator.hpp"

#include <utility>

namespace hone {

Verdict ScriptedEvaluator::correct(double speedup) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.stage = VerdictStage::kDone;
  verdict.reason = "correct";
  verdict.speedup = Speedup{speedup, speedup * 0.98, speedup * 1.02, 100 / speedup, 100, 8, 16, {}};
  verdict.fingerprint = "scripted";
  return verdict;
}

Result<std::uint64_t> ScriptedEvaluator::submit(Submission submission, Progress progress,
                                                Done done) {
  const std::uint64_t id = next_++;
  if (progress) progress(Stage::kQueued);
  {
    MutexLock lock(mutex_);
    if (holding_) {
      held_.emplace(id, Held{std::move(submission), std::move(progress), std::move(done)});
      return id;
    }
  }
  done(script_(submission));
  return id;
}

Result<std::uint64_t> ScriptedEvaluator::examine(Submission submission, Tool, Progress progress,
                                                 Examined done) {
  return submit(std::move(submission), std::move(progress),
                [done = std::move(done)](Result<Verdict> verdict) {
                  if (!verdict) return done(verdict.error());
                  done(Examination{std::move(*verdict), Value::map()});
                });
}

void ScriptedEvaluator::cancel(std::uint64_t id) {
  std::map<std::uint64_t, Held>::node_type taken;
  {
    MutexLock lock(mutex_);
    taken = held_.extract(id);
  }
  if (taken) taken.mapped().done(Error{Code::kCancelled, "cancelled"});
}

void ScriptedEvaluator::drop_queued() {
  std::map<std::uint64_t, Held> queued;
  {
    MutexLock lock(mutex_);
    queued.swap(held_);
  }
  for (auto& [id, held] : queued) held.done(Error{Code::kCancelled, "dropped from the queue"});
}

std::size_t ScriptedEvaluator::pending() const {
  MutexLock lock(mutex_);
  return held_.size();
}

Value ScriptedEvaluator::stats() const {
  return Value::map({{"submissions", submissions()}, {"queue", pending()}});
}

void ScriptedEvaluator::hold() {
  MutexLock lock(mutex_);
  holding_ = true;
}

void ScriptedEvaluator::begin_held() {
  std::vector<Progress> waiting;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, held] : held_) waiting.push_back(held.progress);
  }
  for (const Progress& progress : waiting) {
    if (progress) progress(Stage::kBuilding);
  }
}

std::size_t ScriptedEvaluator::release() {
  std::map<std::uint64_t, Held> ready;
  {
    MutexLock lock(mutex_);
    holding_ = false;
    ready.swap(held_);
  }
  for (auto& [id, held] : ready) held.done(script_(held.submission));
  return ready.size();
}

}  // namespace hone
