// Mutex and MutexLock: std::mutex with clang's thread-safety annotations, which the asan preset
// enforces.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HONE_ANNOTATE(x) __attribute__((x))
#else
#define HONE_ANNOTATE(x)
#endif
#define HONE_GUARDED_BY(mutex) HONE_ANNOTATE(guarded_by(mutex))
#define HONE_REQUIRES(...) HONE_ANNOTATE(requires_capability(__VA_ARGS__))
#define HONE_EXCLUDES(...) HONE_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace hone {

///   Mutex mutex_;
///   int count_ HONE_GUARDED_BY(mutex_) = 0;
///   { MutexLock lock(mutex_); ++count_; }
class HONE_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() HONE_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() HONE_ANNOTATE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class HONE_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HONE_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() HONE_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable for Mutex. Inside a MutexLock: while (!is_ready_) changed_.wait(mutex_);
using Condition = std::condition_variable_any;

}  // namespace hone
