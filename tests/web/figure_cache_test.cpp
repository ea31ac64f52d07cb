// Figures that are computed once for each key, without blocking other keys.
#include "web/figure_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace hone {
namespace {

using Key = FigureCache::Key;
const Key kMain;
constexpr double kLong = 1000;  // s; no test waits for the end of it

bool never_gone() { return false; }

FigureCache::Compute returns(int number) {
  return [number]() -> Result<Value> { return Value(number); };
}

/// The figures of a key without a place are computed anew.
bool is_kept(FigureCache& cache, const Key& key) {
  bool computed = false;
  const auto figures = cache.get(key, never_gone, [&]() -> Result<Value> {
    computed = true;
    return Value(0);
  });
  EXPECT_TRUE(figures);
  return !computed;
}

TEST(FigureCache, FullCache_DropsTheEarliestExpiryAndNeverTheMainKey) {
  FigureCache cache(kLong);
  ASSERT_TRUE(cache.get(kMain, never_gone, returns(1)));
  // The names run backwards, so that the first name is not the one that expires first.
  for (char name = 'z'; name > 'z' - static_cast<int>(FigureCache::kKeptMax); --name)
    ASSERT_TRUE(cache.get({std::string(1, name), ""}, never_gone, returns(2)));
  EXPECT_TRUE(is_kept(cache, kMain));
  EXPECT_TRUE(is_kept(cache, {"y", ""}));
  EXPECT_FALSE(is_kept(cache, {"z", ""}));
}

TEST(FigureCache, WhileAKeyIsComputed_OtherKeysAreServed) {
  FigureCache cache(kLong);
  std::promise<void> begun, go_on;
  std::thread slow([&] {
    EXPECT_TRUE(cache.get({"slow", ""}, never_gone, [&]() -> Result<Value> {
      begun.set_value();
      go_on.get_future().wait();
      return Value(1);
    }));
  });
  begun.get_future().wait();
  EXPECT_EQ(*cache.get(kMain, never_gone, returns(2)), Value(2));
  EXPECT_EQ(*cache.get({"fast", ""}, never_gone, returns(3)), Value(3));
  go_on.set_value();
  slow.join();
}

TEST(FigureCache, SameKeyAtTheSameTime_IsComputedOnce) {
  FigureCache cache(kLong);
  std::promise<void> begun, go_on;
  std::atomic<int> computed{0}, waited{0};
  const auto compute = [&]() -> Result<Value> {
    if (++computed == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return Value(7);
  };
  std::thread first([&] { EXPECT_EQ(*cache.get({"a", ""}, never_gone, compute), Value(7)); });
  begun.get_future().wait();
  std::promise<void> second_waits;
  std::thread second([&] {
    const auto gone = [&] {
      if (++waited == 1) second_waits.set_value();
      return false;
    };
    EXPECT_EQ(*cache.get({"a", ""}, gone, compute), Value(7));
  });
  second_waits.get_future().wait();
  go_on.set_value();
  first.join();
  second.join();
  EXPECT_EQ(computed, 1);
}

TEST(FigureCache, WaitingRequestWhoseClientIsGone_IsCancelled) {
  FigureCache cache(kLong);
  std::promise<void> begun, go_on;
  std::thread first([&] {
    EXPECT_TRUE(cache.get({"a", ""}, never_gone, [&]() -> Result<Value> {
      begun.set_value();
      go_on.get_future().wait();
      return Value(1);
    }));
  });
  begun.get_future().wait();
  const auto cancelled = cache.get(
      {"a", ""}, [] { return true; }, returns(2));
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);
  go_on.set_value();
  first.join();
}

TEST(FigureCache, ManyOtherKeys_AreRefusedAndTheMainKeyIsNot) {
  FigureCache cache(kLong);
  std::promise<void> go_on;
  const std::shared_future<void> ended = go_on.get_future().share();
  std::vector<std::promise<void>> begun(FigureCache::kOthersMax);
  std::vector<std::thread> slow;
  for (std::size_t i = 0; i < FigureCache::kOthersMax; ++i) {
    slow.emplace_back([&, i] {
      EXPECT_TRUE(cache.get({std::to_string(i), ""}, never_gone, [&, i]() -> Result<Value> {
        begun[i].set_value();
        ended.wait();
        return Value(1);
      }));
    });
  }
  for (auto& one : begun) one.get_future().wait();
  const auto refused = cache.get({"one more", ""}, never_gone, returns(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_TRUE(cache.get(kMain, never_gone, returns(2)));
  go_on.set_value();
  for (std::thread& one : slow) one.join();
  EXPECT_TRUE(cache.get({"one more", ""}, never_gone, returns(1)));
}

TEST(FigureCache, Error_IsKeptForAllThatWait) {
  FigureCache cache(kLong);
  std::atomic<int> computed{0};
  const auto fails = [&]() -> Result<Value> {
    ++computed;
    return Error{Code::kUnavailable, "no server"};
  };
  for (int i = 0; i < 3; ++i) {
    const auto failed = cache.get(kMain, never_gone, fails);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "no server");
  }
  EXPECT_EQ(computed, 1);
}

TEST(FigureCache, ErrorOfARequestThatWasClosed_IsNotKept) {
  FigureCache cache(kLong);
  const auto cancelled = []() -> Result<Value> {
    return Error{Code::kCancelled, "the request was closed"};
  };
  EXPECT_FALSE(cache.get(kMain, never_gone, cancelled));
  EXPECT_TRUE(cache.get(kMain, never_gone, returns(1)));
}

TEST(FigureCache, WithoutAFactor_ASlowResultIsKeptNoLonger) {
  FigureCache cache(0, 0);
  EXPECT_EQ(*cache.get(kMain, never_gone, returns(1)), Value(1));
  EXPECT_EQ(*cache.get(kMain, never_gone, returns(2)), Value(2));
}

}  // namespace
}  // namespace hone
