// EventQueue over an eventfd.
#include "server/event_queue.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace hone {

Result<std::shared_ptr<EventQueue>> EventQueue::create() {
  auto queue = std::make_shared<EventQueue>();
  queue->fd_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!queue->fd_) return system_error("eventfd", errno);
  return queue;
}

void EventQueue::push(Event event) {
  if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    local_.push_back(std::move(event));
    return;
  }
  bool first = false;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    first = remote_.empty();
    remote_.push_back(std::move(event));
    remote_waiting_.store(true, std::memory_order_release);
  }
  if (first) wake();
}

void EventQueue::wake() {
  const std::uint64_t one = 1;
  // Full (EAGAIN) means that the owner is being woken already.
  static_cast<void>(!::write(fd_.get(), &one, sizeof one));
  // After the write: the other way round, take() could clear the flag and leave the descriptor
  // readable for good.
  signalled_.store(true, std::memory_order_release);
}

void EventQueue::take(std::vector<Event>& events) {
  events.clear();
  if (signalled_.exchange(false, std::memory_order_acquire)) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(fd_.get(), &count, sizeof count));
  }
  // Events of other threads first: their progress precedes a reply that the owner itself pushed.
  if (remote_waiting_.load(std::memory_order_acquire)) {
    MutexLock lock(mutex_);
    events.swap(remote_);
    remote_waiting_.store(false, std::memory_order_relaxed);
  }
  for (Event& event : local_) events.push_back(std::move(event));
  local_.clear();
}

void EventQueue::close() {
  std::vector<Event> dropped;
  MutexLock lock(mutex_);
  closed_ = true;
  dropped.swap(remote_);
}

}  // namespace hone
