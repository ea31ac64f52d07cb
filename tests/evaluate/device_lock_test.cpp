#include "evaluate/device_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/log.hpp"

namespace hone {
namespace {

using std::chrono::milliseconds;

/// What lanes do on a device, and whether one was there that should not have been.
struct Device {
  std::atomic<int> checking{0}, measuring{0}, inside{0}, most_checking{0}, measured{0};
  std::atomic<bool> disturbed{false};

  void check() {
    const int now = ++checking;
    int most = most_checking;
    while (now > most && !most_checking.compare_exchange_weak(most, now)) {
    }
    if (measuring > 0) disturbed = true;
    std::this_thread::sleep_for(milliseconds(1));
    --checking;
  }
  void measure() {
    if (++measuring > 1 || checking > 0) disturbed = true;
    std::this_thread::sleep_for(milliseconds(1));
    if (checking > 0) disturbed = true;
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

TEST(DeviceLock, Lanes_CheckTogetherAndMeasureOneByOne) {
  DeviceLock lock;
  Device device;
  const auto lane = [&] {
    LaneLock lane_lock(lock);
    for (int i = 0; i < 40; ++i) evaluate(lane_lock, device);
  };
  run_all({lane, lane, lane});
  EXPECT_FALSE(device.disturbed);
  EXPECT_EQ(device.measured, 120);
  EXPECT_GT(device.most_checking, 1);
}

TEST(DeviceLock, Yield_LaneWaitsForTiming_LetsItMeasureFirst) {
  DeviceLock lock;
  LaneLock works(lock), measures(lock);
  ASSERT_TRUE(works.share().ok());
  ASSERT_TRUE(measures.share().ok());
  EXPECT_FALSE(works.blocks_timing());
  EXPECT_TRUE(works.yield().ok());  // no lane waits: at once
  std::atomic<bool> measuring{false}, measured{false};
  std::thread other([&] {
    EXPECT_TRUE(measures.lock_for_timing().ok());
    measuring = true;
    std::this_thread::sleep_for(milliseconds(20));
    measuring = false;
    measured = true;
    EXPECT_TRUE(measures.share().ok());
  });
  while (!works.blocks_timing()) std::this_thread::yield();
  EXPECT_FALSE(measured);
  EXPECT_TRUE(works.yield().ok());
  EXPECT_FALSE(measuring);
  EXPECT_TRUE(measured);
  EXPECT_TRUE(works.is_shared());
  other.join();
}

TEST(DeviceLock, ExclusiveLane_ComesNextAlthoughOthersShare) {
  DeviceLock lock;
  Device device;
  std::atomic<bool> had{false};
  const auto lane = [&] {
    LaneLock lane_lock(lock);
    for (int i = 0; i < 1000 && !had; ++i) {
      if (lane_lock.is_awaited()) lane_lock.leave();
      evaluate(lane_lock, device);
    }
  };
  const auto whole = [&] {
    LaneLock lane_lock(lock);
    std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(lane_lock.lock_exclusive().ok());
    if (device.inside > 0) device.disturbed = true;
    EXPECT_TRUE(lane_lock.lock_for_timing().ok());  // it has
    device.measure();
    EXPECT_FALSE(lane_lock.has_neighbours());
    EXPECT_FALSE(lane_lock.had_neighbours());
    had = true;
  };
  run_all({lane, lane, whole});
  EXPECT_TRUE(had);
  EXPECT_FALSE(device.disturbed);
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

TEST(DeviceLock, Wait_TooLong_FailsAndNamesTheHolder) {
  DeviceLock lock(0.05);
  LaneLock one(lock, "lane 1"), other(lock, "lane 2"), third(lock, "lane 3");
  one.set_work("install level3/17");
  EXPECT_TRUE(one.share().ok());
  EXPECT_TRUE(other.share().ok());
  const Status alone = other.lock_for_timing();
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(alone.error().message,
            "lane 2: waited 0 s for the device exclusively (lane 1 has shared it for 0 s, in "
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
  DeviceLock lock(0.3, 0.1);
  LaneLock one(lock, "lane 1"), other(lock, "lane 2");
  one.set_work("measure level1/19");
  other.set_work("wait for the device with level1/20");
  EXPECT_TRUE(one.lock_exclusive().ok());
  EXPECT_FALSE(other.share().ok());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find("lane 2, in \"wait for the device with level1/20\": waited 0 s to share the device "
               "(lane 1 has held it for 0 s, in \"measure level1/19\")"),
      std::string::npos)
      << log;
}

}  // namespace
}  // namespace hone
