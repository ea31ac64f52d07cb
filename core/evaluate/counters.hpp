// Counters: what the evaluator tells about itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// [any thread]
class Counters {
 public:
  /// Clients are counted apart while there are kClientsMax; later ones together, as "(others)":
  /// without keys a client may call itself anything.
  static constexpr std::size_t kClientsMax = 256;
  /// `result` of one step. Warns in the log once a client has many steps without a verdict: a submission that can keep
  /// itself from being scored gains by it.
  void count(const Result<Verdict>& result, const std::string& client);
  /// {"evaluations": {outcome: n}, "faults": {code: n}, "stage_ms": {stage: {"count", "sum",
  /// "buckets": {"le": n}}}, "clients": {client: {"judged": n, "second_looks": {outcome: n},
  /// "caught": {class: n}, "unscored": n, "often_unscored": flag}}}
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
    std::uint64_t judged = 0, unscored = 0;
    bool often_unscored = false;  ///< was over the threshold; never reset
    std::map<std::string, std::uint64_t> second_looks, caught;
  };
  std::map<std::string, OfClient> clients_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, Histogram> stages_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
