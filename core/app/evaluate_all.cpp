// Keeps the evaluator's queue filled, and waits on one condition.
#include "app/evaluate_all.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.hpp"

namespace hone {
namespace {

constexpr std::size_t kAhead = 64;                // submissions in the evaluator
constexpr auto kShown = std::chrono::seconds(1);  // longest time between updates of the rate

/// Results that the evaluator's threads pass to this thread.
struct Shared {
  Mutex mutex;
  Condition changed;
  std::vector<std::size_t> done HONE_GUARDED_BY(mutex);  // and not yet seen by this thread
  std::string stage HONE_GUARDED_BY(mutex);
};

void submit(Evaluator& evaluator, const Submission& submission, std::size_t i,
            Result<Verdict>& result, const std::shared_ptr<Shared>& shared) {
  const auto hear = [shared](Stage stage) {
    MutexLock lock(shared->mutex);
    shared->stage = stage_name(stage);
    shared->changed.notify_all();
  };
  const auto take = [shared, i, &result](Result<Verdict> verdict) {
    MutexLock lock(shared->mutex);
    result = std::move(verdict);
    shared->done.push_back(i);
    shared->changed.notify_all();
  };
  if (const auto queued = evaluator.submit(submission, hear, take); !queued) take(queued.error());
}

/// Results since the last call. With `wait`, waits for the first one, up to a time limit.
std::vector<std::size_t> take_done(Shared& shared, bool wait, std::string& stage) {
  MutexLock lock(shared.mutex);
  if (wait && shared.done.empty()) shared.changed.wait_for(shared.mutex, kShown);
  stage = shared.stage;
  return std::exchange(shared.done, {});
}

}  // namespace

void evaluate_each(Progress& progress, Evaluator& evaluator, const NextSubmission& next,
                   const TakeResult& take) {
  const auto shared = std::make_shared<Shared>();
  std::deque<Result<Verdict>> results;  // references into it stay good
  bool more = true;
  progress.start();
  for (std::size_t done = 0;;) {
    if (more && results.size() - done < kAhead) {
      const std::optional<Submission> submission = next();
      more = submission.has_value();
      if (more) {
        Result<Verdict>& result = results.emplace_back(unavailable("not evaluated"));
        submit(evaluator, *submission, results.size() - 1, result, shared);
      }
    }
    if (!more && done == results.size()) return;
    std::string stage;  // of the submission that reported last
    const bool wait = !more || results.size() - done >= kAhead;
    for (const std::size_t i : take_done(*shared, wait, stage)) {
      ++done;
      progress.count(results[i]);
      take(i, results[i]);
    }
    const std::string cause = evaluator.waits_for();
    progress.show(cause.empty() ? stage : stage + ", waiting for " + cause);
  }
}

std::vector<Result<Verdict>> evaluate_all(Progress& progress, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions) {
  std::vector<Result<Verdict>> results(submissions.size(), unavailable("not evaluated"));
  std::size_t at = 0;
  evaluate_each(
      progress, evaluator,
      [&] { return at < submissions.size() ? std::optional(submissions[at++]) : std::nullopt; },
      [&results](std::size_t i, const Result<Verdict>& result) { results[i] = result; });
  return results;
}

}  // namespace hone
