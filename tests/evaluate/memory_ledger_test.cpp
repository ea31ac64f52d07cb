#include "evaluate/memory_ledger.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace hone {
namespace {

struct Ledger : testing::Test {
  Ledger() {
    for (const char* name : {"lane 1", "lane 2", "lane 3"}) ledger.add_lane(name);
    ledger.set_bytes(100);
  }
  MemoryLedger ledger{20};
};

TEST_F(Ledger, TryClaim_FitsBesideOthers_IsGranted) {
  EXPECT_TRUE(ledger.try_claim(0, 60));
  EXPECT_TRUE(ledger.try_claim(1, 40));
  EXPECT_FALSE(ledger.try_claim(2, 1));
  EXPECT_EQ(ledger.claimed(), 100u);
  EXPECT_TRUE(ledger.try_claim(1, 10));
  EXPECT_FALSE(ledger.try_claim(2, 30));  // lane 2 still has what it had
  ledger.settle(1, 10);
  EXPECT_TRUE(ledger.try_claim(2, 30));
}

TEST_F(Ledger, Claim_LedgerWithoutSize_IsGranted) {
  ledger.set_bytes(0);
  EXPECT_TRUE(ledger.try_claim(0, 1000));
  EXPECT_TRUE(ledger.try_claim(1, 1000));
  EXPECT_EQ(ledger.claimed(), 0u);
}

TEST_F(Ledger, Claim_LargerThanLedger_IsAllThereIs) {
  EXPECT_TRUE(ledger.try_claim(0, 1000));
  EXPECT_EQ(ledger.claimed(), 100u);
  EXPECT_FALSE(ledger.try_claim(1, 1));
}

TEST_F(Ledger, Claim_IdleLaneHoldsMemory_TakesItBack) {
  ASSERT_TRUE(ledger.try_claim(0, 60));
  ledger.rest(0, 50);
  ASSERT_TRUE(ledger.try_claim(1, 20));
  ledger.rest(1, 20);
  const auto taken = ledger.claim(2, 70);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, (std::vector<std::size_t>{0}));
  EXPECT_EQ(ledger.claimed(), 90u);
  EXPECT_FALSE(ledger.try_claim(0, 1));  // not before its tasks are gone
  ledger.free_again(*taken);
  EXPECT_TRUE(ledger.try_claim(0, 1));
}

TEST_F(Ledger, Claim_BusyLaneHoldsMemory_Waits) {
  ASSERT_TRUE(ledger.try_claim(0, 60));
  std::atomic<bool> granted{false};
  std::thread other([&] {
    EXPECT_TRUE(ledger.claim(1, 70).ok());
    granted = true;
  });
  while (!ledger.is_awaited()) std::this_thread::yield();
  ledger.settle(0, 40);
  EXPECT_FALSE(ledger.could_claim(1, 70));
  EXPECT_TRUE(ledger.is_awaited());
  EXPECT_FALSE(granted);
  ledger.settle(0, 30);
  other.join();
  EXPECT_TRUE(granted);
  EXPECT_FALSE(ledger.is_awaited());
}

TEST_F(Ledger, TryClaim_WouldDelayALaneThatWaits_IsRefusedUnlessAgain) {
  ASSERT_TRUE(ledger.try_claim(0, 30));
  ASSERT_TRUE(ledger.try_claim(2, 60));
  std::thread other([&] { EXPECT_TRUE(ledger.claim(1, 70).ok()); });
  while (!ledger.is_awaited()) std::this_thread::yield();
  ledger.rest(2, 0);
  other.join();  // 30 and 70
  std::thread next([&] { EXPECT_TRUE(ledger.claim(2, 50).ok()); });
  while (!ledger.is_awaited()) std::this_thread::yield();
  ledger.settle(0, 20);
  EXPECT_FALSE(ledger.could_claim(0, 90));
  EXPECT_TRUE(ledger.try_claim(0, 25, true));
  ledger.rest(1, 0);
  next.join();
  ledger.rest(0, 0);
}

TEST_F(Ledger, SmallClaim_GoesBesideALargeOne_WhileTheNextLargeOneWaits) {
  ASSERT_TRUE(ledger.try_claim(0, 80));
  std::thread large([&] {
    EXPECT_TRUE(ledger.claim(1, 90).ok());
    ledger.rest(1, 0);
  });
  while (!ledger.is_awaited()) std::this_thread::yield();
  EXPECT_TRUE(ledger.could_claim(2, 15));
  EXPECT_TRUE(ledger.try_claim(2, 15));  // lane 2 waits for lane 1 in any case
  ledger.rest(0, 0);
  // Now it waits only for lane 3, and no other lane may claim memory before it.
  EXPECT_FALSE(ledger.could_claim(0, 5));
  EXPECT_FALSE(ledger.try_claim(0, 5));
  ledger.rest(2, 0);
  large.join();
  EXPECT_TRUE(ledger.try_claim(0, 5));
}

TEST_F(Ledger, Claim_JobIsOver_EndsTheWait) {
  ASSERT_TRUE(ledger.try_claim(0, 60));
  std::atomic<bool> over{false};
  std::thread other([&] {
    const auto claimed = ledger.claim(1, 70, [&] { return over.load(); });
    ASSERT_FALSE(claimed.ok());
    EXPECT_EQ(claimed.error().code, Code::kUnavailable);
  });
  while (!ledger.is_awaited()) std::this_thread::yield();
  over = true;
  ledger.wake();
  other.join();
  EXPECT_FALSE(ledger.is_awaited());
}

TEST(LedgerLimits, Claim_DeadlinePassed_NamesHolders) {
  MemoryLedger ledger(0.02);
  ledger.add_lane("lane 1");
  ledger.add_lane("lane 2");
  ledger.set_bytes(std::uint64_t{4} << 30);
  ASSERT_TRUE(ledger.try_claim(0, std::uint64_t{3} << 30));
  const auto waited = ledger.claim(1, std::uint64_t{2} << 30);
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(waited.error().message,
            "lane 2: waited 0 s for 2.0 GiB of device memory (lane 1 uses 3.0 GiB)");
  EXPECT_FALSE(ledger.is_awaited());
}

/// Lanes that claim, work, keep some of it and rest, in any order: never more than there is, and all of them get on.
TEST_F(Ledger, Claims_FromThreeThreads_NeverExceedTotal) {
  std::atomic<int> held[3] = {};
  std::atomic<int> most{0};
  const auto note = [&] {
    const int now = held[0] + held[1] + held[2];
    int before = most;
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
  };
  const auto work = [&](std::size_t lane) {
    std::mt19937 random(static_cast<unsigned>(lane));
    for (int i = 0; i < 300; ++i) {
      const int bytes = std::uniform_int_distribution<int>(1, 110)(random);
      if (!ledger.try_claim(lane, static_cast<std::uint64_t>(bytes))) {
        ledger.rest(lane, static_cast<std::uint64_t>(held[lane].load()));
        const auto taken = ledger.claim(lane, static_cast<std::uint64_t>(bytes));
        ASSERT_TRUE(taken.ok());
        for (const std::size_t other : *taken) held[other] = 0;
        ledger.free_again(*taken);
      }
      held[lane] = std::min(bytes, 100);
      ledger.settle(lane, static_cast<std::uint64_t>(bytes));
      note();
      if (i % 3 == 0) std::this_thread::yield();
      held[lane] = bytes / 4;
      ledger.settle(lane, static_cast<std::uint64_t>(bytes / 4));
      if (i % 5 == 0) ledger.rest(lane, static_cast<std::uint64_t>(bytes / 4));
    }
    ledger.rest(lane, static_cast<std::uint64_t>(held[lane].load()));
  };
  std::vector<std::thread> lanes;
  for (std::size_t lane = 0; lane < 3; ++lane) lanes.emplace_back(work, lane);
  for (std::thread& lane : lanes) lane.join();
  EXPECT_LE(most, 100);
  EXPECT_FALSE(ledger.is_awaited());
}

}  // namespace
}  // namespace hone
