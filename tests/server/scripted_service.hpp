// ScriptedService: an EpisodeService that does what a step's code says, so that tests decide when
// and whence replies come.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "episode/service.hpp"

namespace hone {

/// Code of an action: "now" (answered inside the call), "thread" (from another thread), "hold" (by
/// release() or cancel), "progress" (one progress, then held), "big:N" (a reply of N bytes, inside
/// the call), "fail" (an internal error), "busy" (a refusal), "fault" (no reward), "block" (the call itself waits for the gate).
class ScriptedService final : public EpisodeService {
 public:
  ~ScriptedService() override {
    for (std::thread& thread : threads_) thread.join();
  }

  Result<Value> describe(const Caller&, const Value& request) override {
    if (request.find("hold") != nullptr) wait_for_gate();
    return Value::map({{"environment", "scripted"}});
  }
  void reset(const Caller& caller, const Value&, Reply reply) override {
    if (refusing_) return reply(unavailable("the server is shutting down"));
    reply(to_msgpack(Value::map(
        {{"episode", "e"}, {"connection", caller.connection}, {"client", caller.client}})));
  }
  void step(const Caller& caller, const Value& request, double deadline_s, Progress progress,
            Reply reply) override;
  void branch(const Caller& caller, const Value& request, Reply reply) override {
    reset(caller, request, std::move(reply));
  }
  Result<Value> cancel(const Caller& caller, const Value& request) override;
  void close(const Caller&, const Value&, Reply reply) override {
    reply(to_msgpack(Value::map({{"closed", true}})));
  }
  Result<Value> resume(const Caller&, const Value&) override {
    return not_found("no such episode, or not its token");
  }
  void renew(const Caller& caller, const std::vector<std::string>& episodes) override;
  std::size_t leave(const std::set<std::string>& connections) override;
  std::size_t reap() override { return reap_once_.exchange(0); }
  Value stats() const override { return Value::map({{"episodes", Value::map({{"open", 3}})}}); }
  Value capabilities() const override {
    return Value::map({{"environments", Value::array({"scripted"})},
                       {"backends", Value::array({"cpu"})},
                       {"isolation", "none"},
                       {"fingerprint", "test"},
                       {"lease_s", 60.0}});
  }
  std::size_t pending() const override {
    MutexLock lock(mutex_);
    return held_.size();
  }
  void refuse_new_work() override { refusing_ = true; }

  /// Answers what is held, newest first, from this thread. Returns how many.
  std::size_t release();
  /// Lets waiting describes go on.
  void open_gate();
  /// Waits until this number of steps is held.
  void await_held(std::size_t count);
  /// Waits until this number of describes waits at the gate.
  void await_at_gate(std::size_t count);

  std::vector<std::string> renewed();
  /// Waits until a connection has left, and says which have.
  std::set<std::string> await_left();
  std::set<std::string> left() const {
    MutexLock lock(mutex_);
    return left_;
  }
  double last_deadline_s() const { return last_deadline_s_; }
  bool last_cancel_by_control() const { return last_cancel_by_control_; }
  std::string last_code() const {
    MutexLock lock(mutex_);
    return last_code_;
  }
  /// How many cancels of turn `flood` came before the last one of turn `asked`.
  int cancels_before_last(std::int64_t flood, std::int64_t asked) const;
  void reap_next(std::size_t count) { reap_once_ = count; }

 private:
  void wait_for_gate();

  std::atomic<bool> refusing_{false};
  std::atomic<std::size_t> reap_once_{0};
  std::atomic<double> last_deadline_s_{-1};
  std::atomic<bool> last_cancel_by_control_{false};
  mutable Mutex mutex_;
  Condition changed_;
  std::vector<std::pair<Value, Reply>> held_ HONE_GUARDED_BY(mutex_);
  std::vector<std::string> renewed_ HONE_GUARDED_BY(mutex_);
  std::set<std::string> left_ HONE_GUARDED_BY(mutex_);
  std::string last_code_ HONE_GUARDED_BY(mutex_);
  std::vector<std::int64_t> cancelled_ HONE_GUARDED_BY(mutex_);  // turns, in order
  bool gate_open_ HONE_GUARDED_BY(mutex_) = false;
  std::size_t at_gate_ HONE_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
