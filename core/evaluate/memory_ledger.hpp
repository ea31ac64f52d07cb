// MemoryLedger: which lane may hold how much of one device's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

/// One device's. [any thread]
///
/// Theory of operation. Each lane has a claim, in bytes: for the task that it works on and for those that it keeps ready.
/// The claims together are never more than the device has. A lane raises its claim before it works, while it holds no turn
/// (turns.hpp), so that no two lanes wait for each other; lanes that wait are served in order. A lane at rest keeps what it
/// has until another lane needs it, and then that one takes it back.
class MemoryLedger {
 public:
  static constexpr double kWarnSeconds = 60;

  /// `seconds_max`: longest wait for memory. `warn_seconds`: time between two log lines about one wait.
  explicit MemoryLedger(double seconds_max = 1e9, double warn_seconds = kWarnSeconds)
      : seconds_max_(seconds_max), warn_seconds_(warn_seconds) {}
  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// Returns the lane's number. Before any other call.
  std::size_t add_lane(std::string name);
  /// For all lanes together; 0, as at first: unlimited.
  void set_bytes(std::uint64_t bytes);

  /// The lane works from now on, and may hold so much; at most all there is. False: not beside what others hold, or another
  /// lane has waited before. `again`: with the task that it worked on before, and so lanes that wait are passed over.
  bool try_claim(std::size_t lane, std::uint64_t bytes, bool again = false);
  /// The same, once there is so much. What lanes at rest keep is taken back by `take_back(lane)`, called on this thread, one
  /// call at a time, while that lane cannot begin to work. deadline_exceeded: not within the time allowed.
  Status claim(std::size_t lane, std::uint64_t bytes,
               const std::function<void(std::size_t)>& take_back);
  /// The lane holds no more than this now.
  void settle(std::size_t lane, std::uint64_t bytes);
  /// The lane works no more until it claims again; it holds no more than this.
  void rest(std::size_t lane, std::uint64_t bytes);

  /// Whether another lane waits.
  bool is_wanted() const;
  std::uint64_t claimed() const;  ///< by all lanes

 private:
  struct Lane {
    std::string name;
    std::uint64_t bytes = 0;
    bool works = false;
  };
  bool fits(std::size_t lane, std::uint64_t bytes) const HONE_REQUIRES(mutex_);
  void grant(std::size_t lane, std::uint64_t bytes) HONE_REQUIRES(mutex_);
  std::string holders(std::size_t lane) const HONE_REQUIRES(mutex_);

  const double seconds_max_, warn_seconds_;
  mutable Mutex mutex_;
  Condition changed_;
  std::vector<Lane> lanes_ HONE_GUARDED_BY(mutex_);
  std::uint64_t bytes_ HONE_GUARDED_BY(mutex_) = 0;
  std::list<std::size_t> waiting_ HONE_GUARDED_BY(mutex_);  ///< front: served next
};

}  // namespace hone
