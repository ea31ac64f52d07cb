// SideThread: one thread for calls that may wait for another process.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "base/mutex.hpp"

namespace hone {

/// [any thread] The thread starts with the first job; jobs run one after another. The destructor waits
/// until all of them are done.
class SideThread {
 public:
  SideThread() = default;
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  void run(std::function<void()> job);

 private:
  void serve();

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> jobs_ HONE_GUARDED_BY(mutex_);
  bool ending_ HONE_GUARDED_BY(mutex_) = false;
  std::optional<std::thread> thread_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
