// ScriptedEvaluator: an Evaluator that runs nothing and answers from a script, for tests and for benchmarks
// of the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/mutex.hpp"
#include "evaluate/evaluator.hpp"

namespace hone {

/// Answers inside submit(), unless it holds: then answers wait for release() or cancel().
///
///   ScriptedEvaluator evaluator([](const Submission&) { return ScriptedEvaluator::correct(1.5);
///   });
class ScriptedEvaluator final : public Evaluator {
 public:
  using Script = std::function<Result<Verdict>(const Submission&)>;
  explicit ScriptedEvaluator(Script script) : script_(std::move(script)) {}

  /// A `correct` verdict with this speedup.
  static Verdict correct(double speedup);

  Result<std::uint64_t> submit(Submission submission, Progress progress, Done done) override;
  /// The script's verdict, without facts.
  Result<std::uint64_t> examine(Submission submission, Tool tool, Progress progress,
                                Examined done) override;
  void cancel(std::uint64_t id) override;
  void drop_queued() override;  ///< all that wait for release()
  std::size_t pending() const override;
  Value stats() const override;
  std::string fingerprint() const override { return "scripted"; }

  /// New submissions wait for release().
  void hold();
  /// Reports the stage "building" for all that wait.
  void begin_held();
  /// Answers all waiting submissions, and new ones at once again. Returns the number of answered ones.
  std::size_t release();
  std::size_t submissions() const { return next_ - 1; }

 private:
  struct Held {
    Submission submission;
    Progress progress;
    Done done;
  };

  const Script script_;
  std::atomic<std::uint64_t> next_{1};
  mutable Mutex mutex_;
  bool holding_ HONE_GUARDED_BY(mutex_) = false;
  std::map<std::uint64_t, Held> held_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
