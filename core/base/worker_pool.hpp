// WorkerPool: threads for calls that may wait for the disk or another process, behind a bounded queue.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.hpp"

namespace hone {

/// [any thread] submit() and waiting(). The destructor finishes the accepted jobs.
class WorkerPool {
 public:
  WorkerPool(std::size_t threads, std::size_t queue_max);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// False if the queue is full; the job is then not accepted.
  bool submit(std::function<void()> job);
  std::size_t waiting() const;

 private:
  void run();

  const std::size_t queue_max_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> jobs_ HONE_GUARDED_BY(mutex_);
  bool ending_ HONE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hone
