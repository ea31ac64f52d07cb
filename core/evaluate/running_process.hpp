// RunningProcess: a process that other threads may kill.
#pragma once

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// A process of a lane: the submission that is being judged, or the judge. [any thread]
class RunningProcess {
 public:
  /// null: none.
  void set(Process* process) {
    MutexLock lock(mutex_);
    process_ = process;
  }
  void kill() {
    MutexLock lock(mutex_);
    if (process_ != nullptr) process_->kill();
  }
  /// Kills it and waits. [the thread of set()]
  Status end(double seconds) {
    Process* process = nullptr;
    {
      MutexLock lock(mutex_);
      process = process_;
    }
    if (process == nullptr) return internal_error("the judge ended a submission that does not run");
    process->kill();
    const auto exit = process->wait(seconds);
    return exit ? Status() : Status(exit.error());
  }

 private:
  Mutex mutex_;
  Process* process_ HONE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace hone
