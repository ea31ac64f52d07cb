// References: PyTorch modules that a gateway's clients bring, in the folder where a server's dataset
// `references` finds them.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

/// [any thread] Files called by the SHA-256 of what is in them: the same reference is one file.
///
///   HONE_ASSIGN(auto references, References::open(folder));
///   HONE_ASSIGN(const std::string id, references->put(source, "Model"));
///   client.reset({.task = "references/" + id});
class References {
 public:
  static constexpr std::size_t kKept = 65536;  ///< of those that this process wrote

  /// failed_precondition: no folder, or others may write into it, whose code would then be run.
  static Result<std::unique_ptr<References>> open(std::filesystem::path folder);

  /// The id that its task has. `entry`: the module's class; empty: the dataset finds it.
  Result<std::string> put(const std::string& source, const std::string& entry);

 private:
  explicit References(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::set<std::string> known_ HONE_GUARDED_BY(mutex_);
  std::deque<std::string> order_ HONE_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace hone
