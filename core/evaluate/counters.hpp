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
  void count(const Result<Verdict>& result);
  /// {"evaluations": {outcome: n}, "faults": {code: n}, "stage_ms": {stage: {"count", "sum",
  /// "buckets": {"le": n}}}}
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
  std::map<std::string, Histogram> stages_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
