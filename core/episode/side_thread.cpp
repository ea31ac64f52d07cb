// A queue and its thread.
#include "episode/side_thread.hpp"

#include <utility>

namespace hone {

SideThread::~SideThread() {
  std::optional<std::thread> thread;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    thread.swap(thread_);
  }
  changed_.notify_one();
  if (thread) thread->join();
}

void SideThread::run(std::function<void()> job) {
  {
    MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!thread_) thread_.emplace([this] { serve(); });
  }
  changed_.notify_one();
}

void SideThread::serve() {
  while (true) {
    std::function<void()> job;
    {
      MutexLock lock(mutex_);
      while (jobs_.empty() && !ending_) changed_.wait(mutex_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace hone
