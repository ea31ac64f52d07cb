// EventQueue: passes progress and replies from any thread to the I/O thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

struct Peer;

/// Progress of a request, or its end.
struct Event {
  std::shared_ptr<Peer> peer;  ///< used only by the I/O thread
  std::int64_t id = 0;         ///< of the request
  std::uint64_t serial = 0;    ///< of the request, unique in the server: ids may be used again
  bool last = true;
  Result<std::string> body = std::string();
};

/// Events pushed by the owner itself cost no lock and no system call. Callbacks hold it by
/// shared_ptr, so that one that comes after the server's end finds it closed.
class EventQueue {
 public:
  static Result<std::shared_ptr<EventQueue>> create();

  /// Makes the calling thread the owner, which takes events.
  void adopt() { owner_ = std::this_thread::get_id(); }
  /// [any thread] Dropped when the queue is closed.
  void push(Event event);
  /// [any thread] Makes the owner's wait end.
  void wake();
  /// [owner] All queued events in order.
  void take(std::vector<Event>& events);
  void close();
  /// Readable when another thread pushed.
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::atomic<std::thread::id> owner_{};
  std::vector<Event> local_;
  std::atomic<bool> signalled_{false};
  std::atomic<bool> remote_waiting_{false};
  Mutex mutex_;
  std::vector<Event> remote_ HONE_GUARDED_BY(mutex_);
  bool closed_ HONE_GUARDED_BY(mutex_) = false;
};

}  // namespace hone
