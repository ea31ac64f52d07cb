// Keeps the evaluator's queue filled, and waits on one condition.
#include "cli/evaluate_all.hpp"

#include <memory>
#include <string>
#include <utility>

#include "base/mutex.hpp"

namespace hone {
namespace {

constexpr std::size_t kAhead = 64;  // submissions handed over and not yet done

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

std::vector<Result<Verdict>> evaluate_all(Terminal& terminal, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions,
                                          std::string_view what, const TakeResult& take) {
  const auto shared = std::make_shared<Shared>();
  std::vector<Result<Verdict>> results(submissions.size(), unavailable("not evaluated"));
  std::size_t submitted = 0;
  for (std::size_t done = 0; done < submissions.size();) {
    for (; submitted < submissions.size() && submitted - done < kAhead; ++submitted) {
      submit(evaluator, submissions[submitted], submitted, results[submitted], shared);
    }
    std::string text(what);
    std::vector<std::size_t> finished;
    {
      MutexLock lock(shared->mutex);
      if (shared->done.empty()) shared->changed.wait(shared->mutex);
      finished = std::exchange(shared->done, {});
      done += finished.size();
      text += std::to_string(done) + " of " + std::to_string(submissions.size()) + " done; " +
              shared->stage + "…";
    }
    if (take) {
      for (const std::size_t i : finished) take(i, results[i]);
    }
    terminal.status(text);
  }
  terminal.clear_status();
  return results;
}

}  // namespace hone
