// Whether this machine builds extensions of torch's at all: asked before anybody is blamed for one that it did not build.
#pragma once

#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "evaluate/dry_run.hpp"
#include "evaluate/options.hpp"
#include "evaluate/zygotes.hpp"

namespace hone {

/// [any thread]
class Extensions {
 public:
  /// Both outlive it.
  Extensions(Zygotes& zygotes, const EvaluatorOptions& options)
      : zygotes_(zygotes), options_(options) {}

  /// Builds a known one as a submission's is built, unless that was done in the last minutes. `device`: as
  /// dry runs have it. failed_precondition with the compilers' words where it is
  /// not built.
  Status check(ExtensionKind kind, const std::string& device);

 private:
  struct Answer {
    Mutex mutex;  ///< held while one is built: who comes meanwhile asks the same
    Status status HONE_GUARDED_BY(mutex);
    double until_s HONE_GUARDED_BY(mutex) = 0;  ///< by the monotonic clock
  };

  Zygotes& zygotes_;
  const EvaluatorOptions& options_;
  Answer host_, device_;
};

}  // namespace hone
