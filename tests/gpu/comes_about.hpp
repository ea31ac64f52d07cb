// Polls until a condition of another process or thread holds.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace hone::test {

inline constexpr std::chrono::seconds kLong{
    60};  ///< limit of a wait for something that takes seconds

inline bool comes_about(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace hone::test
