// Threads that share a counter of jobs.
#include "bench/load.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hone {

Status in_parallel(int count, int at_once, const std::function<Status(int)>& thing) {
  std::atomic<int> next{0};
  std::vector<Status> ends(static_cast<std::size_t>(at_once));
  std::vector<std::thread> threads;
  for (Status& end : ends) {
    threads.emplace_back([&] {
      for (int i = next++; i < count && end; i = next++) end = thing(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& end : ends) HONE_TRY(end);
  return {};
}

std::string numbered(const std::string& source, int number) {
  return source + "\n# " + std::to_string(number) + " of " + std::to_string(monotonic_ns()) + "\n";
}

}  // namespace hone
