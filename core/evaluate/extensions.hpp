// Extensions: checks whether this machine can build torch extensions, before a submission is blamed for a
// failed build.
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

  /// Builds a known extension in the way a submission's is built, unless that was done in the last minutes.
  /// `device`: as for dry runs. failed_precondition, with the compilers' output, if the build fails.
  Status check(ExtensionKind kind, const std::string& device);

 private:
  struct Answer {
    Mutex mutex;  ///< held during a build, so that concurrent callers share its result
    Status status HONE_GUARDED_BY(mutex);
    double until_s HONE_GUARDED_BY(mutex) = 0;  ///< by the monotonic clock
  };

  Zygotes& zygotes_;
  const EvaluatorOptions& options_;
  Answer host_, device_;
};

}  // namespace hone
