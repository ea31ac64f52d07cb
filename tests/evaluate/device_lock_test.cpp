#include "evaluate/device_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "base/log.hpp"

namespace hone {
namespace {

/// Counts the lanes that wait. Time stands still until the test sets it.
class CountingClock final : public LockClock {
 public:
  double now_s() const override { return now_s_; }
  void wait(Condition& changed, Mutex& mutex, double) override {
    ++waiting_;
    changed.wait(mutex);
    --waiting_;
  }
  void set_now_s(double now_s) { now_s_ = now_s; }
  int waiting() const { return waiting_; }
  void await(int lanes) const {
    while (waiting_ < lanes) std::this_thread::yield();
  }

 private:
  std::atomic<double> now_s_{100};
  std::atomic<int> waiting_{0};
};

/// Each wait takes all of its time at once.
class JumpingClock final : public LockClock {
 public:
  double now_s() const override { return now_s_; }
  void wait(Condition&, Mutex&, double seconds) override { now_s_ += seconds; }
  void advance(double seconds) { now_s_ += seconds; }

 private:
  double now_s_ = 100;
};

/// What lanes do on a device, and whether one was there that should not have been.
struct Device {
  std::atomic<int> checking{0}, measuring{0}, inside{0}, measured{0};
  std::atomic<bool> disturbed{false};

  void check() {
    ++checking;
    if (measuring > 0) disturbed = true;
    std::this_thread::yield();
    if (measuring > 0) disturbed = true;
    --checking;
  }
  void measure() {
    if (++measuring > 1 || checking > 0) disturbed = true;
    std::this_thread::yield();
    if (measuring > 1 || checking > 0) disturbed = true;
    --measuring;
    ++measured;
  }
};

void evaluate(LaneLock& lane_lock, Device& device) {
  EXPECT_TRUE(lane_lock.share().ok());
  ++device.inside;
  device.check();
  EXPECT_TRUE(lane_lock.yield().ok());
  device.check();
  EXPECT_TRUE(lane_lock.lock_for_timing().ok());
  EXPECT_TRUE(lane_lock.yield().ok());  // a lane with the device for timing blocks no lane
  device.measure();
  EXPECT_TRUE(lane_lock.share().ok());
  device.check();
  --device.inside;
}

void run_all(const std::vector<std::function<void()>>& lanes) {
  std::vector<std::thread> threads;
  for (const auto& lane : lanes) threads.emplace_back(lane);
  for (std::thread& thread : threads) thread.join();
}

TEST(DeviceLock, Lanes_ManyAtOnce_MeasureOneByOne) {
  DeviceLock lock;
  Device device;
  const auto lane = [&] {
    LaneLock lane_lock(lock);
    for (int i = 0; i < 200; ++i) evaluate(lane_lock, device);
  };
  run_all({lane, lane, lane});
  EXPECT_FALSE(device.disturbed);
  EXPECT_EQ(device.measured, 600);
}

TEST(DeviceLock, Timing_OtherLanesShare_WaitsForAllOfThem) {
  CountingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock first(lock), second(lock), measures(lock);
  ASSERT_TRUE(first.share().ok());
  ASSERT_TRUE(second.share().ok());
  ASSERT_TRUE(measures.share().ok());  // they share: none has waited
  std::atomic<bool> measured{false};
  std::thread other([&] {
    EXPECT_TRUE(measures.lock_for_timing().ok());
    measured = true;
    measures.leave();
  });
  clock.await(1);
  first.leave();
  EXPECT_FALSE(measured);
  second.leave();
  other.join();
  EXPECT_TRUE(measured);
}

TEST(DeviceLock, Yield_LaneWaitsForTiming_LetsItMeasureFirst) {
  CountingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock works(lock), measures(lock);
  ASSERT_TRUE(works.share().ok());
  ASSERT_TRUE(measures.share().ok());
  EXPECT_FALSE(works.blocks_timing());
  EXPECT_TRUE(works.yield().ok());  // no lane waits: at once
  std::atomic<bool> measured{false}, yielded{false};
  std::thread other([&] {
    EXPECT_TRUE(measures.lock_for_timing().ok());
    while (clock.waiting() == 0 && !yielded) std::this_thread::yield();
    measured = !yielded;
    EXPECT_TRUE(measures.share().ok());
  });
  clock.await(1);
  EXPECT_TRUE(works.blocks_timing());
  EXPECT_TRUE(works.yield().ok());
  yielded = true;
  EXPECT_TRUE(measured);
  EXPECT_TRUE(works.is_shared());
  other.join();
}

TEST(DeviceLock, Yield_MoreLanesShareThanWait_ContinuesForATime) {
  CountingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock first(lock), second(lock), enters(lock), measures(lock), measures_too(lock);
  ASSERT_TRUE(first.share().ok());
  ASSERT_TRUE(second.share().ok());
  ASSERT_TRUE(measures.share().ok());
  ASSERT_TRUE(measures_too.share().ok());
  std::thread other([&] { EXPECT_TRUE(measures.lock_for_timing().ok()); });
  clock.await(1);
  EXPECT_FALSE(first.blocks_timing()) << "three share and one waits";
  EXPECT_TRUE(first.yield().ok())
      << "at once, because otherwise it waits for a lane that waits for it";
  ASSERT_TRUE(enters.share().ok());
  enters.leave();
  clock.set_now_s(100 + DeviceLock::kGatherSeconds);
  EXPECT_TRUE(first.blocks_timing());
  clock.set_now_s(100);
  std::thread another([&] { EXPECT_TRUE(measures_too.lock_for_timing().ok()); });
  clock.await(2);
  EXPECT_TRUE(first.blocks_timing()) << "two share and two wait";
  for (LaneLock* lane : {&first, &second}) lane->leave();
  other.join();
  measures.leave();
  another.join();
}

TEST(DeviceLock, ExclusiveLaneAgain_LetsInThoseThatWaited) {
  CountingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock exclusive(lock), shares(lock);
  for (int time = 0; time < 20; ++time) {
    ASSERT_TRUE(exclusive.lock_exclusive().ok());
    std::atomic<bool> has_shared{false};
    std::thread other([&] {
      EXPECT_TRUE(shares.share().ok());
      has_shared = true;
      shares.leave();
    });
    clock.await(1);
    exclusive.leave();
    ASSERT_TRUE(exclusive.lock_exclusive().ok());
    EXPECT_TRUE(has_shared);
    exclusive.leave();
    other.join();
  }
}

TEST(DeviceLock, ExclusiveLane_ComesNextAlthoughOthersShare) {
  DeviceLock lock;
  Device device;
  std::atomic<bool> had{false};
  const auto lane = [&] {
    LaneLock lane_lock(lock);
    while (!had) {
      if (lane_lock.is_awaited()) lane_lock.leave();
      evaluate(lane_lock, device);
    }
  };
  const auto exclusive = [&] {
    LaneLock lane_lock(lock);
    while (device.measured < 2) std::this_thread::yield();
    EXPECT_TRUE(lane_lock.lock_exclusive().ok());
    if (device.inside > 0) device.disturbed = true;
    EXPECT_TRUE(lane_lock.lock_for_timing().ok());  // it has
    device.measure();
    EXPECT_FALSE(lane_lock.has_neighbours());
    EXPECT_FALSE(lane_lock.had_neighbours());
    had = true;
  };
  run_all({lane, lane, exclusive});
  EXPECT_FALSE(device.disturbed);
}

TEST(DeviceLock, LongWaitForTiming_OtherLanesAreAskedToLeave) {
  CountingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock works(lock), measures(lock);
  ASSERT_TRUE(works.share().ok());
  ASSERT_TRUE(measures.share().ok());
  std::thread other([&] { EXPECT_TRUE(measures.lock_for_timing().ok()); });
  clock.await(1);
  clock.set_now_s(101.9);
  EXPECT_FALSE(works.is_awaited());
  clock.set_now_s(102.1);
  EXPECT_TRUE(works.is_awaited());
  works.leave();
  other.join();
}

TEST(DeviceLock, HadNeighbours_LaneWasThereMeanwhile_IsTrue) {
  DeviceLock lock;
  LaneLock one(lock), other(lock);
  EXPECT_FALSE(one.has_neighbours());
  EXPECT_TRUE(one.share().ok());
  EXPECT_FALSE(one.had_neighbours());
  EXPECT_TRUE(other.share().ok());
  EXPECT_TRUE(one.had_neighbours());
  EXPECT_TRUE(other.had_neighbours());
  EXPECT_TRUE(one.has_neighbours());
  other.leave();
  EXPECT_TRUE(one.had_neighbours());
  EXPECT_FALSE(one.has_neighbours());
  one.leave();
  EXPECT_TRUE(one.share().ok());
  EXPECT_FALSE(one.had_neighbours());
  EXPECT_TRUE(one.is_shared());
  EXPECT_TRUE(one.lock_for_timing().ok());
  EXPECT_FALSE(one.is_shared());
  one.leave();
  EXPECT_TRUE(other.lock_exclusive().ok());
  EXPECT_FALSE(other.had_neighbours());
  EXPECT_TRUE(other.share().ok());  // what is measured whole is checked whole
  EXPECT_TRUE(other.is_exclusive());
}

TEST(DeviceLock, SharedSeconds_AreTheTimeInWhichSeveralLanesShare) {
  JumpingClock clock;
  DeviceLock lock(1e9, 60, clock);
  LaneLock one(lock), other(lock), third(lock);
  ASSERT_TRUE(one.share().ok());
  clock.advance(1);
  EXPECT_EQ(one.shared_seconds(), 0);
  ASSERT_TRUE(other.share().ok());
  clock.advance(2);
  EXPECT_EQ(one.shared_seconds(), 2) << "both still share";
  ASSERT_TRUE(third.share().ok());
  clock.advance(4);
  other.leave();
  clock.advance(8);
  third.leave();
  clock.advance(16);
  EXPECT_EQ(one.shared_seconds(), 14);
}

TEST(DeviceLock, Wait_TooLong_FailsAndNamesTheHolder) {
  JumpingClock clock;
  DeviceLock lock(30, 60, clock);
  LaneLock one(lock, "lane 1"), other(lock, "lane 2"), third(lock, "lane 3");
  one.set_work("install level3/17");
  EXPECT_TRUE(one.share().ok());
  EXPECT_TRUE(other.share().ok());
  clock.advance(12);
  const Status alone = other.lock_for_timing();
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(alone.error().message,
            "lane 2: waited 30 s for the device exclusively (lane 1 has shared it for 42 s, in "
            "\"install level3/17\")");
  EXPECT_TRUE(other.is_unlocked());
  EXPECT_TRUE(one.lock_for_timing().ok());  // the lane that gave up blocks no lane
  const Status shared = third.share();
  ASSERT_FALSE(shared.ok());
  EXPECT_NE(shared.error().message.find("lane 1 has held it for"), std::string::npos);
  const Status whole = third.lock_exclusive();
  ASSERT_FALSE(whole.ok());
  one.leave();
  EXPECT_TRUE(third.lock_exclusive().ok());
  EXPECT_FALSE(other.share().ok());
  third.leave();
  EXPECT_TRUE(other.share().ok());
}

TEST(DeviceLock, LongWait_IsLogged_WithTheHoldersWork) {
  set_up_log(LogLevel::kWarning, false);
  testing::internal::CaptureStderr();
  JumpingClock clock;
  DeviceLock lock(100, 60, clock);
  LaneLock one(lock, "lane 1"), other(lock, "lane 2");
  one.set_work("measure level1/19");
  other.set_work("wait for the device with level1/20");
  EXPECT_TRUE(one.lock_exclusive().ok());
  EXPECT_FALSE(other.share().ok());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find("lane 2, in \"wait for the device with level1/20\": waited 60 s to share the device "
               "(lane 1 has held it for 60 s, in \"measure level1/19\")"),
      std::string::npos)
      << log;
}

}  // namespace
}  // namespace hone
