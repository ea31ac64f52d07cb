// The current work of a lane: its step and its time limit.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "evaluate/device_lock.hpp"

namespace hone {

/// One thread. The lock shows the step to other lanes, for their log lines.
class LaneWork {
 public:
  using Waited = std::function<void(double from_s, double to_s)>;

  explicit LaneWork(LaneLock& lock) : lock_(lock) {}

  /// `task_id`: of the job, or empty. `waited` is called after waits for other lanes; may be null.
  void begin(const std::string& task_id, Waited waited = nullptr) {
    task_id_ = task_id;
    waited_ = std::move(waited);
  }
  /// "install the reference of".
  void set_step(const std::string& step) {
    text_ = step + (task_id_.empty() ? "" : " " + task_id_);
    lock_.set_work(text_);
  }
  const std::string& text() const { return text_; }

  /// Starts the job's time limit.
  void allow(double seconds) { ends_s_ = monotonic_s() + seconds; }
  double ends_s() const { return ends_s_; }
  /// Reports that the job has waited for other lanes since `from_s`, before its work began.
  void report_wait(double from_s) const {
    if (waited_) waited_(from_s, monotonic_s());
  }
  /// Reports a wait during the judge's work, and excludes it from the job's time limit.
  void note_wait(double from_s) {
    ends_s_ += monotonic_s() - from_s;
    report_wait(from_s);
  }

 private:
  LaneLock& lock_;
  std::string task_id_, text_;
  double ends_s_ = 1e300;
  Waited waited_;
};

}  // namespace hone
