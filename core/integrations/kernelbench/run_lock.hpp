// RunLock: one run at a time has a folder's results.
#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// Held from before eval_results.json is read until nothing is written any more: it is written
/// whole each time, and another's results would be lost. Ends with the process, however that ends.
///
///   HONE_ASSIGN(const RunLock lock, RunLock::take(folder));
class RunLock {
 public:
  /// Who is late hears who has it, and what to do.
  static Result<RunLock> take(const std::filesystem::path& folder);

 private:
  explicit RunLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace hone
