// References: PyTorch modules that a gateway's clients bring, in the folder where a server's dataset
// `references` finds them.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
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
  static constexpr std::size_t kKept = 65536;        ///< of those that this process wrote
  static constexpr std::size_t kRefusedKept = 4096;  ///< reasons
  static constexpr double kRefusedS = 600;
  static constexpr double kLateS =
      60;  ///< for a description that timed out: it may be in time again
  static constexpr std::size_t kSourceBytesMax = 256 << 10;  ///< as the dataset has it

  /// failed_precondition: no folder, or others may write into it, whose code would then be run.
  static Result<std::unique_ptr<References>> open(std::filesystem::path folder);

  /// The id that its task has. `entry`: the module's class; empty: the dataset finds it.
  /// invalid_argument: no dataset takes it. Any error: the one of a refusal that is still known.
  Result<std::string> put(const std::string& source, const std::string& entry);
  /// No task can be made of it: put() says so for some seconds, and a file that this process wrote
  /// for it goes.
  void refuse(const std::string& id, const Error& why, double seconds = kRefusedS);
  /// Why, while that is known.
  std::optional<Error> refused(const std::string& id);

 private:
  explicit References(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Refusal {
    Error why;
    double end_s = 0;
  };

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::set<std::string> known_ HONE_GUARDED_BY(mutex_);
  std::set<std::string> written_
      HONE_GUARDED_BY(mutex_);  // of the known, those that were not there
  std::deque<std::string> order_ HONE_GUARDED_BY(mutex_);  // of the known, the oldest first
  std::map<std::string, Refusal> refused_ HONE_GUARDED_BY(mutex_);
  std::deque<std::string> refused_order_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
