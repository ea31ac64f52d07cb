// Deliberate faults. A sanitizer build must report them; otherwise its silence means nothing.
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

namespace {

int counter = 0;

// ThreadSanitizer may miss two accesses at the same instant, so one follows the other. The relaxed atomic
// creates no happens-before relation, so the accesses are still a data race.
void race() {
  std::atomic<bool> written{false};
  std::thread other([&written] {
    ++counter;
    written.store(true, std::memory_order_relaxed);
  });
  while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
  ++counter;
  other.join();
}

int use_after_free(int index) {
  auto numbers = std::make_unique<int[]>(4);
  int* volatile kept = numbers.get();
  numbers.reset();
  return kept[index];
}

int overflow(int by) { return INT_MAX - 1 + by; }

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "race") == 0) race();
  if (argc == 2 && std::strcmp(argv[1], "use-after-free") == 0) counter = use_after_free(argc);
  if (argc == 2 && std::strcmp(argv[1], "overflow") == 0) counter = overflow(argc);
  std::printf("%d\n", counter);
  return 0;
}
