// Evaluator: turns submissions into verdicts, on the host's side of building, judging and measuring.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/examination.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

struct Submission {
  std::shared_ptr<const Task> task;
  std::string backend = "cpu";
  std::string language;  ///< one of the task's languages: "c++", "c"
  std::string source;
  std::string client;   ///< client that asks, for quotas and fairness
  std::string episode;  ///< fairness among a client's episodes
  std::string group;  ///< submissions of one group share a device model and a baseline; empty: none
  std::uint64_t seed = 0;  ///< secret; the only source of inputs and hidden shapes
  double deadline_s = 0;   ///< time limit of the answer (s); 0: the configured limit
  bool profile = false;    ///< the verdict gets findings of a profile
};

enum class Stage { kQueued, kBuilding, kChecking, kMeasuring };
std::string_view stage_name(Stage stage);  ///< "queued", "building", "checking", "measuring"

/// [any thread] Callbacks come from the evaluator's threads and must return soon.
class Evaluator {
 public:
  using Progress = std::function<void(Stage)>;
  /// A verdict about the submission. Or an Error: a fault of the machine or of hone (after a retry), a
  /// deadline or a cancellation.
  using Done = std::function<void(Result<Verdict>)>;

  using Examined = std::function<void(Result<Examination>)>;

  virtual ~Evaluator() = default;

  /// Queues a submission. `done` is called exactly once, unless this returns an error: resource_exhausted if
  /// the queue is full, invalid_argument if the task does not have the backend or the language.
  virtual Result<std::uint64_t> submit(Submission submission, Progress progress, Done done) = 0;
  /// As submit(), for a tool, in the same queue. Facts {"unavailable": str}: the tool cannot examine this submission here.
  virtual Result<std::uint64_t> examine(Submission submission, Tool tool, Progress progress,
                                        Examined done);
  /// Cancels an evaluation: `done` gets `cancelled`, unless it was called already. Unknown ids are ignored.
  virtual void cancel(std::uint64_t id) = 0;
  /// Ends the queued evaluations that have not begun: `done` gets `cancelled`.
  virtual void drop_queued() {}
  /// Queued and running evaluations.
  virtual std::size_t pending() const = 0;
  /// The start-up work that all submissions wait for, for a progress line; empty: none.
  virtual std::string waits_for() const { return {}; }
  /// [any thread] Reasons why devices cannot evaluate submissions now, one line for each such device.
  virtual std::vector<std::string> problems() const { return {}; }
  /// Counters and histograms for `metrics`: {"evaluations": {outcome: n}, "queue": n, "stage_ms":
  /// {stage: {...}}, …}.
  virtual Value stats() const = 0;
  /// Hardware, driver and toolchain, for hello and for every verdict.
  virtual std::string fingerprint() const = 0;
};

/// Submits and waits for the verdict. Not from the evaluator's own threads.
Result<Verdict> judge_and_wait(Evaluator& evaluator, Submission submission);
Result<Examination> examine_and_wait(Evaluator& evaluator, Submission submission, Tool tool);

}  // namespace hone
