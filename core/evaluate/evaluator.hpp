// Evaluator: takes submissions, gives verdicts. The host's side of building, judging and measuring.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

struct Submission {
  std::shared_ptr<const Task> task;
  std::string backend = "cpu";
  std::string language;  ///< "c++", "c"; one of the task's
  std::string source;
  std::string client;   ///< who asks: quotas and fairness
  std::string episode;  ///< fairness among a client's episodes
  std::string group;  ///< submissions of one group share a device model and a baseline; empty: none
  std::uint64_t seed = 0;  ///< secret; inputs and hidden shapes follow from it alone
  double deadline_s = 0;   ///< seconds from now to give an answer; 0: the configured limit
};

enum class Stage { kQueued, kBuilding, kChecking, kMeasuring };
std::string_view stage_name(Stage stage);  ///< "queued", "building", "checking", "measuring"

/// [any thread] All members; callbacks come from the evaluator's threads and must return soon.
class Evaluator {
 public:
  using Progress = std::function<void(Stage)>;
  /// A verdict about the submission; or an Error, which is a fault of the machine or of hone (after
  /// a retry), a deadline or a cancellation, and never the submission's.
  using Done = std::function<void(Result<Verdict>)>;

  virtual ~Evaluator() = default;

  /// Queues a submission. `done` is called exactly once, unless this returns an error:
  /// resource_exhausted when the queue is full, invalid_argument when backend or language are not
  /// the task's.
  virtual Result<std::uint64_t> submit(Submission submission, Progress progress, Done done) = 0;
  /// Ends it early: `done` gets `cancelled`, unless it was called already. Unknown ids are ignored.
  virtual void cancel(std::uint64_t id) = 0;
  /// Evaluations queued and running now.
  virtual std::size_t pending() const = 0;
  /// What all submissions wait for, to show in a progress line; empty: nothing.
  virtual std::string waits_for() const { return {}; }
  /// Counters and histograms for `metrics`: {"evaluations": {outcome: n}, "queue": n, "stage_ms":
  /// {stage: {...}}, …}.
  virtual Value stats() const = 0;
  /// What measures: goes into hello and into every verdict.
  virtual std::string fingerprint() const = 0;
};

/// Submits one and waits for its verdict; not from the evaluator's own threads.
Result<Verdict> judge_and_wait(Evaluator& evaluator, Submission submission);

}  // namespace hone
