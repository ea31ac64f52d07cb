// Counters: the evaluator's metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "model/examination.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// [any thread]
class Counters {
 public:
  /// The first kClientsMax clients are counted separately, later ones together as "(others)". Rationale:
  /// without keys a client can use any number of names.
  static constexpr std::size_t kClientsMax = 256;
  /// Adds a client when its work is queued, so that its counters begin at 0. One count() follows each call.
  /// After a cancellation, that count() removes a client without other work or results.
  void expect(const std::string& client);
  /// Counts the result of one step. Warns in the log once a client has many steps without a verdict, because
  /// a submission that prevents its own score could profit from that.
  void count(const Result<Verdict>& result, const std::string& client);
  /// Counts the use of a tool. A verdict counts for its client as a step's does, under names of its own.
  void count(Tool tool, const Result<Examination>& found, const std::string& client);
  /// {"evaluations": {outcome: n}, "tools": {tool: n}, "tool_errors": {tool: n}, "faults": {code: n}, "stage_ms": {stage: {"count", "sum",
  /// "buckets": {"le": n}}}, "clients": {client: {"judged": n, "second_looks": {outcome: n},
  /// "caught": {class: n}, "tool_second_looks": {outcome: n}, "tool_caught": {class: n}, "unscored": n,
  /// "often_unscored": flag}}}
  Value value() const;

 private:
  struct Histogram {
    std::uint64_t count = 0;
    double sum = 0;
    std::map<double, std::uint64_t> buckets;
  };
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> outcomes_ HONE_GUARDED_BY(mutex_), faults_
      HONE_GUARDED_BY(mutex_);
  struct OfClient {
    std::uint64_t waiting = 0;  ///< calls of expect() whose count() has not come yet
    std::uint64_t judged = 0, unscored = 0;
    bool often_unscored = false;  ///< was over the threshold; never reset
    std::map<std::string, std::uint64_t> second_looks, caught, tool_second_looks, tool_caught;
    bool operator==(const OfClient&) const = default;
  };
  void end_wait(const std::string& client, bool cancelled) HONE_REQUIRES(mutex_);
  OfClient& of_client(const std::string& client) HONE_REQUIRES(mutex_);
  std::map<std::string, OfClient> clients_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, Histogram> stages_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> tools_ HONE_GUARDED_BY(mutex_), tool_errors_
      HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
