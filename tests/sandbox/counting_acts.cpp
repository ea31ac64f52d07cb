// Test subjects of the freezers: threads, timers, signals and new threads that an incomplete freeze would let run.
#include "counting_acts.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "sandbox/seal.hpp"

namespace hone {
namespace {

CountersPage* g_page = nullptr;

void map_page() {
  void* page = ::mmap(nullptr, sizeof(CountersPage), PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
  if (page == MAP_FAILED) ::_exit(9);
  g_page = static_cast<CountersPage*>(page);
}

[[noreturn]] void count(int which) {
  for (;;) g_page->counters[which].fetch_add(1, std::memory_order_relaxed);
}

void on_signal(int /*signal*/) { g_page->counters[7].fetch_add(1); }

void handle(int signal) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

long count_alone() { count(0); }

long count_in_threads() {
  for (int i = 1; i < 4; ++i) std::thread(count, i).detach();
  count(0);
}

/// What escapes SIGSTOP: a timer whose signal is SIGCONT, with a handler.
long count_with_timer() {
  handle(SIGCONT);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return -1;
  itimerspec every{};
  every.it_interval.tv_nsec = every.it_value.tv_nsec = 100'000;
  ::timer_settime(timer, 0, &every, nullptr);
  std::thread(count, 1).detach();
  count(0);
}

/// Threads that live for a moment, made without end.
long count_births() {
  std::thread([] {
    for (;;) {
      std::thread([] { g_page->counters[2].fetch_add(1); }).join();
      g_page->counters[1].fetch_add(1);
    }
  }).detach();
  for (;;) {
    std::thread([] { g_page->counters[3].fetch_add(1); }).join();
    g_page->counters[0].fetch_add(1);
  }
}

/// Two threads send each other signals as fast as they can, some of them stops.
long count_signals() {
  handle(SIGUSR1);
  handle(SIGCONT);
  const pthread_t first = ::pthread_self();
  std::thread([first] {
    for (std::uint64_t i = 0;; ++i) {
      ::pthread_kill(first, i % 64 == 0 ? SIGCONT : SIGUSR1);
      g_page->counters[1].fetch_add(1);
    }
  }).detach();
  for (;;) {
    ::raise(SIGUSR1);
    g_page->counters[0].fetch_add(1);
  }
}

/// Stops itself again and again. The freezer that uses ptrace lets it go on; the cgroup's leaves it
/// stopped.
long count_stops() {
  for (;;) {
    ::raise(SIGSTOP);
    g_page->counters[0].fetch_add(1);
  }
}

/// The first thread ends; the others go on.
long count_without_leader() {
  std::thread(count, 1).detach();
  std::thread(count, 2).detach();
  ::pthread_exit(nullptr);
}

/// Sealed as candidates are.
long count_sealed() {
  SealOptions options;
  options.threads = true;
  if (!seal_candidate(options)) return -1;
  return count_in_threads();
}

}  // namespace

std::map<std::string, std::function<long(const std::string&)>> counting_acts() {
  const auto act = [](long (*body)()) {
    return [body](const std::string&) {
      map_page();
      return body();
    };
  };
  return {{"count", act(count_alone)},
          {"count-threads", act(count_in_threads)},
          {"count-timer", act(count_with_timer)},
          {"count-births", act(count_births)},
          {"count-signals", act(count_signals)},
          {"count-stops", act(count_stops)},
          {"count-sealed", act(count_sealed)},
          {"count-leaderless", act(count_without_leader)}};
}

}  // namespace hone
