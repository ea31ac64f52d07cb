// Keeps the evaluator's queue filled, and waits on one condition.
#include "cli/evaluate_all.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.hpp"

namespace hone {
namespace {

constexpr std::size_t kAhead = 64;                // submissions handed over and not yet done
constexpr auto kShown = std::chrono::seconds(1);  // the rate is shown anew at least this often

/// What the evaluator's threads tell this one.
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

}  // namespace

std::vector<Result<Verdict>> evaluate_all(Progress& progress, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions,
                                          const TakeResult& take) {
  const auto shared = std::make_shared<Shared>();
  std::vector<Result<Verdict>> results(submissions.size(), unavailable("not evaluated"));
  std::size_t submitted = 0;
  progress.start();
  for (std::size_t done = 0; done < submissions.size();) {
    for (; submitted < submissions.size() && submitted - done < kAhead; ++submitted) {
      submit(evaluator, submissions[submitted], submitted, results[submitted], shared);
    }
    std::string stage;
    std::vector<std::size_t> finished;
    {
      MutexLock lock(shared->mutex);
      if (shared->done.empty()) shared->changed.wait_for(shared->mutex, kShown);
      finished = std::exchange(shared->done, {});
      stage = shared->stage;
    }
    done += finished.size();
    for (const std::size_t i : finished) {
      progress.count(results[i]);
      if (take) take(i, results[i]);
    }
    progress.show(stage);
  }
  return results;
}

}  // namespace hone
