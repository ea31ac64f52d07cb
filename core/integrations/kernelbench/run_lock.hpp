// RunLock: only one process at a time may write the results of a run's folder.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// Held from before eval_results.json is read until the last write. Rationale: every write replaces
/// the whole file, so results of a second process would be lost. The kernel releases the lock when
/// the process ends.
///
///   HONE_ASSIGN(const RunLock lock, RunLock::take(folder));
class RunLock {
 public:
  /// An error names the process that holds the lock, and what to do.
  static Result<RunLock> take(const std::filesystem::path& folder);

 private:
  explicit RunLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace hone
