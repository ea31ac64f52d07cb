// Whether this machine builds extensions of torch's at all: asked before anybody is blamed for one that it did not build.
#pragma once

#include <map>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/warm_interpreters.hpp"

namespace hone {

/// [any thread]
class Extensions {
 public:
  /// Both outlive it.
  Extensions(WarmInterpreters& interpreters, const EvaluatorOptions& options)
      : interpreters_(interpreters), options_(options) {}

  /// Builds a known one as a submission's is built, unless that was done in the last minutes. `kind`: "c++" or "cuda";
  /// `device`: as rehearsals have it. failed_precondition with the compilers' words where it is not built.
  Status check(const std::string& kind, const std::string& device) HONE_EXCLUDES(mutex_);

 private:
  struct Answer {
    Status status;
    double until_s = 0;  ///< by the monotonic clock
  };

  WarmInterpreters& interpreters_;
  const EvaluatorOptions& options_;
  Mutex mutex_;  // held while one is built: who comes meanwhile asks the same
  std::map<std::string, Answer> answers_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
