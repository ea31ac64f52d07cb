// Shutdown: whether the server is shutting down, since when, and until when.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace hone {

/// Belongs to the I/O thread, but for request(). Times are monotonic nanoseconds.
class Shutdown {
 public:
  /// [any thread] Asks for the shutdown, which ends at the limit.
  void request(std::int64_t limit_ns) {
    limit_ns_.store(std::max<std::int64_t>(limit_ns, 1), std::memory_order_release);
  }
  bool is_requested() const { return limit_ns_.load(std::memory_order_acquire) != 0; }
  bool is_over(std::int64_t now_ns) const {
    return now_ns >= limit_ns_.load(std::memory_order_acquire);
  }

  /// Time until the limit; 0 once it is over.
  std::int64_t left_ms(std::int64_t now_ns) const {
    const std::int64_t limit_ns = limit_ns_.load(std::memory_order_acquire);
    return std::max<std::int64_t>(limit_ns - now_ns, 0) / 1'000'000;
  }

  void begin(std::int64_t now_ns) {
    begun_ = true;
    since_ns_ = now_ns;
  }
  bool has_begun() const { return begun_; }
  std::int64_t since_ns() const { return since_ns_; }

 private:
  std::atomic<std::int64_t> limit_ns_{0};  // 0: not requested
  bool begun_ = false;
  std::int64_t since_ns_ = 0;
};

}  // namespace hone
