#include "evaluate/turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

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
  turn.share();
  ++device.inside;
  device.check();
  turn.have_alone();
  device.measure();
  turn.share();
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
    turn.have_whole();
    if (device.inside > 0) device.disturbed = true;
    turn.have_alone();  // it has
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
  one.share();
  EXPECT_FALSE(one.met_others());
  other.share();
  EXPECT_TRUE(one.met_others());
  EXPECT_TRUE(other.met_others());
  EXPECT_TRUE(one.beside_others());
  other.leave();
  EXPECT_TRUE(one.met_others());
  EXPECT_FALSE(one.beside_others());
  one.leave();
  one.share();
  EXPECT_FALSE(one.met_others());
  EXPECT_TRUE(one.is_sharing());
  one.have_alone();
  EXPECT_FALSE(one.is_sharing());
  one.leave();
  other.have_whole();
  EXPECT_FALSE(other.met_others());
  other.share();  // what is measured whole is checked whole
  EXPECT_TRUE(other.has_whole());
}

}  // namespace
}  // namespace hone
