#include "evaluate/turns.hpp"

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

void evaluate(Turn& turn, Device& device) {
  EXPECT_TRUE(turn.share().ok());
  ++device.inside;
  device.check();
  EXPECT_TRUE(turn.give_way().ok());
  device.check();
  EXPECT_TRUE(turn.have_alone().ok());
  EXPECT_TRUE(turn.give_way().ok());  // who has it alone is in nobody's way
  device.measure();
  EXPECT_TRUE(turn.share().ok());
  device.check();
  --device.inside;
}

void run_all(const std::vector<std::function<void()>>& lanes) {
  std::vector<std::thread> threads;
  for (const auto& lane : lanes) threads.emplace_back(lane);
  for (std::thread& thread : threads) thread.join();
}

TEST(Turns, LetLanesCheckSideBySideAndMeasureAlone) {
  Turns turns;
  Device device;
  const auto lane = [&] {
    Turn turn(turns);
    for (int i = 0; i < 40; ++i) evaluate(turn, device);
  };
  run_all({lane, lane, lane});
  EXPECT_FALSE(device.disturbed);
  EXPECT_EQ(device.measured, 120);
  EXPECT_GT(device.most_checking, 1);
}

TEST(Turns, GiveWay_LaneWaitsToHaveItAlone_LetsItMeasureFirst) {
  Turns turns;
  Turn works(turns), measures(turns);
  ASSERT_TRUE(works.share().ok());
  ASSERT_TRUE(measures.share().ok());
  EXPECT_FALSE(works.is_in_the_way());
  EXPECT_TRUE(works.give_way().ok());  // nobody waits: at once
  std::atomic<bool> measuring{false}, measured{false};
  std::thread other([&] {
    EXPECT_TRUE(measures.have_alone().ok());
    measuring = true;
    std::this_thread::sleep_for(milliseconds(20));
    measuring = false;
    measured = true;
    EXPECT_TRUE(measures.share().ok());
  });
  while (!works.is_in_the_way()) std::this_thread::yield();
  EXPECT_FALSE(measured);
  EXPECT_TRUE(works.give_way().ok());
  EXPECT_FALSE(measuring);
  EXPECT_TRUE(measured);
  EXPECT_TRUE(works.is_sharing());
  other.join();
}

TEST(Turns, LetOneHaveAllOfItInTheEnd) {
  Turns turns;
  Device device;
  std::atomic<bool> had{false};
  const auto lane = [&] {
    Turn turn(turns);
    for (int i = 0; i < 1000 && !had; ++i) {
      if (turn.is_wanted()) turn.leave();
      evaluate(turn, device);
    }
  };
  const auto whole = [&] {
    Turn turn(turns);
    std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(turn.have_whole().ok());
    if (device.inside > 0) device.disturbed = true;
    EXPECT_TRUE(turn.have_alone().ok());  // it has
    device.measure();
    EXPECT_FALSE(turn.beside_others());
    EXPECT_FALSE(turn.met_others());
    had = true;
  };
  run_all({lane, lane, whole});
  EXPECT_TRUE(had);
  EXPECT_FALSE(device.disturbed);
}

TEST(Turns, SayWhoWasThere) {
  Turns turns;
  Turn one(turns), other(turns);
  EXPECT_FALSE(one.beside_others());
  EXPECT_TRUE(one.share().ok());
  EXPECT_FALSE(one.met_others());
  EXPECT_TRUE(other.share().ok());
  EXPECT_TRUE(one.met_others());
  EXPECT_TRUE(other.met_others());
  EXPECT_TRUE(one.beside_others());
  other.leave();
  EXPECT_TRUE(one.met_others());
  EXPECT_FALSE(one.beside_others());
  one.leave();
  EXPECT_TRUE(one.share().ok());
  EXPECT_FALSE(one.met_others());
  EXPECT_TRUE(one.is_sharing());
  EXPECT_TRUE(one.have_alone().ok());
  EXPECT_FALSE(one.is_sharing());
  one.leave();
  EXPECT_TRUE(other.have_whole().ok());
  EXPECT_FALSE(other.met_others());
  EXPECT_TRUE(other.share().ok());  // what is measured whole is checked whole
  EXPECT_TRUE(other.has_whole());
}

TEST(Turns, Wait_TooLong_FailsAndNamesTheHolder) {
  Turns turns(0.05);
  Turn one(turns, "lane 1"), other(turns, "lane 2"), third(turns, "lane 3");
  one.set_work("install level3/17");
  EXPECT_TRUE(one.share().ok());
  EXPECT_TRUE(other.share().ok());
  const Status alone = other.have_alone();
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(alone.error().message,
            "lane 2: waited 0 s for the device exclusively (lane 1 shares it since 0 s, in "
            "\"install level3/17\")");
  EXPECT_TRUE(other.is_out());
  EXPECT_TRUE(one.have_alone().ok());  // the lane that gave up is in nobody's way
  const Status shared = third.share();
  ASSERT_FALSE(shared.ok());
  EXPECT_NE(shared.error().message.find("lane 1 has it since"), std::string::npos);
  const Status whole = third.have_whole();
  ASSERT_FALSE(whole.ok());
  one.leave();
  EXPECT_TRUE(third.have_whole().ok());
  EXPECT_FALSE(other.share().ok());
  third.leave();
  EXPECT_TRUE(other.share().ok());
}

TEST(Turns, LongWait_IsLogged_WithTheHoldersWork) {
  set_up_log(LogLevel::kWarning, false);
  testing::internal::CaptureStderr();
  Turns turns(0.3, 0.1);
  Turn one(turns, "lane 1"), other(turns, "lane 2");
  one.set_work("measure level1/19");
  other.set_work("wait for a turn with level1/20");
  EXPECT_TRUE(one.have_whole().ok());
  EXPECT_FALSE(other.share().ok());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find("lane 2, in \"wait for a turn with level1/20\": waited 0 s to share the device "
               "(lane 1 has it since 0 s, in \"measure level1/19\")"),
      std::string::npos)
      << log;
}

}  // namespace
}  // namespace hone
