// Starved time: tables of observations, and processes that sleep, work and compete for a core.
#include "sandbox/starved_time.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <functional>
#include <string>

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr double kEver = 60;  // longest wait for an event

/// A moment of a process on one core. Threads are added.
ProcessSample moment(double at_s, double ran_s, std::vector<ThreadSample> threads) {
  ProcessSample seen;
  seen.at_s = at_s;
  seen.ran_s = ran_s;
  seen.threads = std::move(threads);
  seen.one_thread = seen.threads.size() == 1;
  seen.cores = 1;
  return seen;
}

ThreadSample thread(double ran_s, double delayed_s, bool ready, std::uint64_t turns = 1,
                    pid_t number = 7) {
  return {number, ready, ran_s, delayed_s, turns, static_cast<std::uint64_t>(ran_s * 1000)};
}

StarvedAccount account_of(const std::vector<ProcessSample>& moments) {
  StarvedAccount account;
  account.begin(moments.front(), 0, 0);
  for (std::size_t i = 1; i < moments.size(); ++i) account.add(moments[i]);
  return account;
}

double starved(const std::vector<ProcessSample>& moments) { return account_of(moments).seconds(); }
double own(const std::vector<ProcessSample>& moments) { return account_of(moments).own_s(); }

TEST(StarvedAccount, ThreadOnItsCore_IsNotStarved) {
  EXPECT_EQ(starved({moment(0, 0, {thread(0, 0, true)}), moment(0.1, 0.1, {thread(0.1, 0, true)}),
                     moment(0.2, 0.2, {thread(0.2, 0, true)})}),
            0);
}

TEST(StarvedAccount, ThreadThatSleeps_IsNotStarved) {
  EXPECT_EQ(starved({moment(0, 0, {thread(0, 0, false)}), moment(0.1, 0, {thread(0, 0, false)}),
                     moment(0.2, 0, {thread(0, 0, false)})}),
            0);
}

TEST(StarvedAccount, DelayThatTheKernelCounted_Counts) {
  EXPECT_NEAR(starved({moment(0, 0, {thread(0, 5, true, 1)}),
                       moment(0.1, 0.02, {thread(0.02, 5.08, true, 2)})}),
              0.08, 1e-12);
}

TEST(StarvedAccount, WaitThatTheKernelHasNotYetCounted_CountsOnce) {
  const std::vector<ProcessSample> waits{
      moment(0, 0, {thread(0, 0, true, 1)}), moment(0.1, 0, {thread(0, 0, true, 1)}),
      moment(0.2, 0, {thread(0, 0, true, 1)}),
      moment(0.3, 0.02, {thread(0.02, 0.28, true, 2)})};  // it got its core
  EXPECT_NEAR(starved({waits.begin(), waits.begin() + 3}), 0.2, 1e-12);
  EXPECT_NEAR(starved(waits), 0.28, 1e-12);
}

/// A thread that runs for `run_ms`, then waits for `wait_ms`, again and again, looked at every 25 ms for two seconds.
void expect_all_waits_count(int run_ms, int wait_ms) {
  SCOPED_TRACE(std::to_string(run_ms) + " ms of " + std::to_string(run_ms + wait_ms));
  std::vector<ProcessSample> moments;
  double waited_s = 0, ran_to_s = 0;
  for (int at_ms = 0; at_ms <= 2000; at_ms += 25) {
    const int turns = at_ms / (run_ms + wait_ms), within_ms = at_ms % (run_ms + wait_ms);
    const double ran_s = 1e-3 * (turns * run_ms + std::min(within_ms, run_ms));
    // The kernel counts a delay when it is over.
    const double counted_s = 1e-3 * turns * wait_ms;
    moments.push_back(
        moment(1e-3 * at_ms, ran_s,
               {thread(ran_s, counted_s, true, static_cast<std::uint64_t>(turns) + 1)}));
    waited_s = 1e-3 * at_ms - ran_s;
    ran_to_s = ran_s;
  }
  EXPECT_NEAR(starved(moments), waited_s, 0.025 + 1e-9);
  EXPECT_NEAR(own(moments), ran_to_s, 1e-9);
}

TEST(StarvedAccount, ThreadWithAShareOfACore_IsStarvedForTheRest) {
  for (const int run_ms : {1, 3, 4, 10, 30})
    for (const int wait_ms : {7, 24, 26, 36, 90}) expect_all_waits_count(run_ms, wait_ms);
}

/// The watching process had no core, either, so it samples late.
TEST(StarvedAccount, DelayThatTheKernelHasYetToCount_IsNotOwnTime) {
  const std::vector<ProcessSample> moments{
      moment(0, 0, {thread(0, 0, true, 1)}),
      moment(0.2, 0.05, {thread(0.05, 0.01, true, 2)}),     // it has waited since 0.06
      moment(0.3, 0.05, {thread(0.05, 0.01, true, 2)}),     // still
      moment(0.32, 0.06, {thread(0.06, 0.26, true, 3)}),    // it got its core at 0.31
      moment(0.42, 0.06, {thread(0.06, 0.26, false, 3)})};  // it sleeps
  const auto own_at = [&](std::ptrdiff_t last) {
    return own({moments.begin(), moments.begin() + last + 1});
  };
  EXPECT_NEAR(own_at(1), 0.05, 1e-9);
  EXPECT_NEAR(own_at(2), 0.05, 1e-9);
  EXPECT_NEAR(own_at(3), 0.06, 1e-9);
  EXPECT_NEAR(own_at(4), 0.16, 1e-9);
  EXPECT_NEAR(starved({moments.begin(), moments.begin() + 2}), 0.01, 1e-9);
}

TEST(StarvedAccount, SleepBetweenLooks_IsOwnTimeFromTheNextLook) {
  // It is ready at each sample, and has slept for almost all the time since the last one.
  std::vector<ProcessSample> moments;
  for (int i = 0; i <= 40; ++i) {
    const double ran_s = 0.001 * i;
    moments.push_back(
        moment(0.025 * i, ran_s, {thread(ran_s, 0, true, static_cast<std::uint64_t>(i) + 1)}));
  }
  EXPECT_NEAR(own(moments), 1 - 0.024, 1e-9);
}

TEST(StarvedAccount, TimeBeforeALateFirstLook_IsNotOwnTimeUnlessItRan) {
  StarvedAccount account;
  account.begin(moment(0.2, 0.03, {thread(0.03, 9, true)}), 0.2, 0.03);
  EXPECT_NEAR(account.own_s(), 0.03, 1e-9);
  account.add(moment(0.3, 0.03, {thread(0.03, 9, false)}));  // it sleeps
  EXPECT_NEAR(account.own_s(), 0.13, 1e-9);
}

TEST(StarvedAccount, DelayBeforeTheFirstLook_DoesNotCount) {
  EXPECT_NEAR(starved({moment(0, 0, {thread(0, 0, true, 1)}),
                       moment(0.025, 0.02, {thread(0.02, 3.005, true, 2)}),
                       moment(0.05, 0.045, {thread(0.045, 3.005, true, 2)})}),
              0.005, 1e-9);
}

TEST(StarvedAccount, ThreadWhoseRunShowsInOneCountOnly_IsNotStarved) {
  // A kernel without a tick on that core: schedstat stands still while the thread runs.
  ThreadSample before = thread(0, 0, true), after = before;
  after.used_ms = 30;
  EXPECT_EQ(starved({moment(0, 0, {before}), moment(0.03, 0.03, {after})}), 0);
}

TEST(StarvedAccount, ThreadsThatDelayEachOther_AreNotStarved) {
  // Two threads on one core that others do not use.
  const auto at = [](double s) {
    return moment(s, s,
                  {thread(s / 2, s / 2, true, 1 + static_cast<std::uint64_t>(s * 100), 7),
                   thread(s / 2, s / 2, true, 1 + static_cast<std::uint64_t>(s * 100), 8)});
  };
  EXPECT_NEAR(starved({at(0), at(0.1), at(0.2)}), 0, 1e-9);
}

TEST(StarvedAccount, MoreThreadsThanCores_PayForWhatTheyRan) {
  // Two cores, of which others have one: of four threads that spin, some are delayed all the time.
  std::vector<ProcessSample> moments;
  for (int i = 0; i <= 10; ++i) {
    const double at = i * 0.1;
    moments.push_back(
        moment(at, at,
               {thread(at / 2, at / 2, true, 1, 7), thread(at / 4, 3 * at / 4, true, 1, 8),
                thread(at / 4, 3 * at / 4, true, 1, 9), thread(0, at, true, 1, 10)}));
    moments.back().cores = 2;
  }
  EXPECT_NEAR(starved(moments), 0.5, 1e-9);  // one core for a second is half a second of two
}

TEST(StarvedAccount, ThreadsOnACoreThatOthersHave_AreStarvedForThatShare) {
  // The others have 70 % of the core.
  const auto at = [](double s) {
    return moment(s, 0.3 * s,
                  {thread(0.15 * s, 0.85 * s, true, 1 + static_cast<std::uint64_t>(s * 100), 7),
                   thread(0.15 * s, 0.85 * s, true, 1 + static_cast<std::uint64_t>(s * 100), 8)});
  };
  EXPECT_NEAR(starved({at(0), at(0.1), at(0.2)}), 0.14, 1e-9);
}

TEST(StarvedAccount, ThreadsThatDelayEachOtherOnOneOfTwoCores_AreNotStarved) {
  const auto at = [](double s) {
    ProcessSample seen =
        moment(s, s,
               {thread(s / 2, s / 2, true, 1 + static_cast<std::uint64_t>(s * 100), 7),
                thread(s / 2, s / 2, true, 1 + static_cast<std::uint64_t>(s * 100), 8)});
    seen.cores = 2;
    seen.idle_s = s;
    return seen;
  };
  EXPECT_NEAR(starved({at(0), at(0.1), at(0.2)}), 0, 1e-9);
}

/// The starved share of a process with threads that take turns on one of 14 cores, looked at every 25 ms for two seconds. Other
/// processes use `others` cores; the rest is idle.
double starved_by_own_turns(int threads, int turn_us, double others) {
  constexpr int kCores = 14, kLookUs = 25'000, kEndUs = 2'000'000;
  std::vector<ProcessSample> moments;
  for (int at_us = 0; at_us <= kEndUs; at_us += kLookUs) {
    const int turn = at_us / turn_us;
    std::vector<ThreadSample> seen;
    for (int i = 0; i < threads; ++i) {
      // It has had the turns i, i + threads and so on. The kernel counts a delay when it is over.
      const int turns = turn / threads + (turn % threads > i ? 1 : 0);
      const int waits = turns == 0 ? 0 : i + (threads - 1) * (turns - 1);
      seen.push_back(thread(1e-6 * turn_us * turns, 1e-6 * turn_us * waits, true,
                            static_cast<std::uint64_t>(turns) + 1, 7 + i));
    }
    moments.push_back(moment(1e-6 * at_us, 1e-6 * at_us, std::move(seen)));
    moments.back().cores = kCores;
    moments.back().idle_s = 1e-6 * at_us * (kCores - 1 - others);
  }
  return starved(moments) / (1e-6 * kEndUs);
}

TEST(StarvedAccount, ManyThreadsThatDelayEachOther_AreNotStarved) {
  // Each look sees other threads whose delays began before the look before.
  for (const int threads : {2, 10, 40, 200})
    for (const int turn_us : {200, 1000, 4000})
      EXPECT_NEAR(starved_by_own_turns(threads, turn_us, 0), 0, 1e-9)
          << threads << " threads, " << turn_us << " us";
}

TEST(StarvedAccount, ThreadsThatKeepToOneCoreWhileOthersAreIdle_AreNotStarvedByOtherProcesses) {
  // The process chooses the core of its threads. A third of the cores is what others and it use.
  for (const int threads : {2, 10, 40})
    EXPECT_LT(starved_by_own_turns(threads, 1000, 3), 1 / 3.) << threads << " threads";
}

TEST(StarvedAccount, ThreadThatACpuQuotaStops_IsStarvedThoughItsCoreIsIdle) {
  // It runs a quarter of the time. The rest is a delay, of which as much as it ran may be by its own threads.
  const auto at = [](double s) {
    ProcessSample seen = moment(
        s, s / 4, {thread(s / 4, 3 * s / 4, true, 1 + static_cast<std::uint64_t>(s * 100), 7)});
    seen.one_thread = false;
    seen.idle_s = 3 * s / 4;
    return seen;
  };
  EXPECT_NEAR(starved({at(0), at(0.1), at(0.2)}), 0.1, 1e-9);
}

TEST(StarvedAccount, TreeWhoseProcessEndsDuringASample_CountsItsTimeOnce) {
  // The third sample misses the time of a process that has just ended.
  const auto at = [](double s, double ran_s) {
    ProcessSample seen = moment(s, ran_s, {thread(0, s, true, 1, 7)});
    seen.one_thread = false;
    return seen;
  };
  EXPECT_NEAR(starved({at(0, 0), at(0.1, 0.04), at(0.2, 0), at(0.3, 0.06)}), 0.24, 1e-9);
}

TEST(StarvedAccount, PauseOfAllProcesses_CountsBeyondAQuarterOfASecond) {
  EXPECT_NEAR(starved({moment(0, 0, {thread(0, 0, true)}), moment(9, 0.5, {thread(0.5, 0, true)})}),
              8.5, 1e-12);
  EXPECT_NEAR(starved({moment(0, 0, {thread(0, 0, false)}), moment(9, 0, {thread(0, 0, false)})}),
              8.75, 1e-12);
}

TEST(StarvedAccount, PauseInWhichTheProcessRan_DoesNotCount) {
  EXPECT_EQ(starved({moment(0, 0, {thread(0, 0, true)}), moment(9, 9, {thread(9, 0, true)})}), 0);
}

TEST(StarvedAccount, PauseBeforeTheFirstLook_Counts) {
  StarvedAccount account;
  account.begin(moment(4, 0.1, {thread(0.1, 0, false)}), 4, 0.1);
  EXPECT_NEAR(account.seconds(), 3.75, 1e-12);
  EXPECT_NEAR(account.halted_s(), 3.75, 1e-12);
}

TEST(StarvedAccount, WaitForMemory_CountsOnlyWhileTheMachineIsShortOfIt) {
  const auto at = [](double s, bool is_short) {
    ProcessSample seen = moment(s, 0, {thread(0, 0, false)});
    seen.stalled_s = s;
    seen.is_short = is_short;
    return seen;
  };
  EXPECT_NEAR(starved({at(0, true), at(0.1, true), at(0.2, true)}), 0.2, 1e-12);
  EXPECT_EQ(starved({at(0, false), at(0.1, false), at(0.2, false)}), 0);
}

TEST(StarvedAccount, TimeThatAVirtualMachineDidNotGet_Counts) {
  const auto at = [](double s) {
    ProcessSample seen = moment(s, s, {thread(s, 0, true)});
    seen.stolen_s = s / 2;
    return seen;
  };
  EXPECT_NEAR(starved({at(0), at(0.1), at(0.2)}), 0.1, 1e-12);
}

TEST(StarvedAccount, LookWithoutTheTimesOfTheCores_AddsNoTimeSinceBoot) {
  std::vector<ProcessSample> moments;
  for (const double at_s : {0., 0.1, 0.2}) {
    moments.push_back(moment(at_s, 0, {thread(0, 0, false)}));
    moments.back().one_thread = false;
    moments.back().idle_s = 9000 + at_s;
    moments.back().stolen_s = 5000;
  }
  moments[1].cores = 0;
  moments[1].idle_s = moments[1].stolen_s = 0;
  EXPECT_EQ(starved(moments), 0);
}

TEST(ProcessWatch, TextOfTheKernel_IsRead) {
  const ThreadSample seen =
      thread_from(9, "9 (a) b R) R 1 9 9 0 -1 4194304 90 0 0 0 25 5 0 0 20 0 1 0 100 0 0\n",
                  "1500000000 250000000 42\n");
  EXPECT_EQ(seen.thread, 9);
  EXPECT_TRUE(seen.ready);
  EXPECT_EQ(seen.ran_s, 1.5);
  EXPECT_EQ(seen.delayed_s, 0.25);
  EXPECT_EQ(seen.turns, 42u);
  EXPECT_EQ(seen.used_ms, 30u * 1000 / static_cast<unsigned>(::sysconf(_SC_CLK_TCK)));
  EXPECT_FALSE(thread_from(9, "9 (R) S 1", "").ready);
  EXPECT_FALSE(thread_from(9, "", "").ready);
  EXPECT_EQ(
      tree_seconds("9 (a) b R) R 1 9 9 0 -1 4194304 90 0 0 0 25 5 300 20 20 0 1 0 100 0 0\n", 100),
      3.5);
  EXPECT_EQ(tree_seconds("", 100), 0);

  const char* stat =
      "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 400 50 6 7 80 0 0\ncpu1 1 2 3 100 0 6 7 0 0 0\n";
  const auto cores = cores_from(stat, {0, 1}, 100);
  ASSERT_TRUE(cores);
  EXPECT_EQ(cores->idle_s, 5.5);
  EXPECT_EQ(cores->stolen_s, 0.8);
  EXPECT_FALSE(cores_from(stat, {2}, 100));
  EXPECT_FALSE(cores_from("", {0}, 100));

  EXPECT_EQ(stalled_seconds("some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0 "
                            "total=9\n"),
            1.5);
  EXPECT_EQ(stalled_seconds(""), 0);

  const char* memory = "MemTotal:       32000 kB\nMemFree:  9 kB\nMemAvailable:     900 kB\n";
  EXPECT_TRUE(is_short_of_memory(memory, 0));
  EXPECT_FALSE(is_short_of_memory(memory, 200 << 10)) << "it is the process that has it";
  EXPECT_FALSE(is_short_of_memory("", 0));
}

/// Processes of a test, on one core, which end with it.
class Children {
 public:
  ~Children() {
    for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  }
  /// Starts a process. Returns after the process has set its core and its priority.
  pid_t start(int nice, const std::function<void()>& body) {
    int ready[2];
    if (::pipe(ready) != 0) return -1;
    const pid_t pid = ::fork();
    if (pid == 0) {
      cpu_set_t core;
      CPU_ZERO(&core);
      CPU_SET(0, &core);
      ::sched_setaffinity(0, sizeof core, &core);
      ::setpriority(PRIO_PROCESS, 0, nice);
      ::alarm(static_cast<unsigned>(2 * kEver));
      for (const int end : ready) ::close(end);
      body();
      ::_exit(0);
    }
    pids_.push_back(pid);
    ::close(ready[1]);
    char byte;
    [[maybe_unused]] const ssize_t ended = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    return pid;
  }

 private:
  std::vector<pid_t> pids_;
};

void work() {
  volatile bool goes_on = true;
  while (goes_on) {
  }
}

void sleep() {
  for (;;) ::pause();
}

/// Polls until `enough`, or until a time limit.
bool samples_until(StarvedTime& watched, const std::function<bool()>& enough) {
  const double end_s = monotonic_s() + kEver;
  while (!enough() && monotonic_s() < end_s) {
    watched.sample();
    const timespec pause{0, 2'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return enough();
}

TEST(StarvedTime, ProcessBesideOthersOfABetterPriority_IsStarved) {
  for (const Watched watched : {Watched::kFirstThread, Watched::kThreads, Watched::kTree}) {
    Children children;
    const pid_t process = children.start(19, work);
    for (int i = 0; i < 2; ++i) children.start(0, work);
    StarvedTime starved(ProcessWatch(process, watched, -1));
    starved.begin();
    EXPECT_TRUE(samples_until(starved, [&] { return starved.seconds() - starved.halted_s() > 1; }));
  }
}

TEST(StarvedTime, ProcessThatSleepsOnABusyCore_IsNotStarved) {
  Children children;
  const pid_t process = children.start(19, sleep);
  for (int i = 0; i < 2; ++i) children.start(0, work);
  StarvedTime starved(ProcessWatch(process, Watched::kFirstThread, -1));
  // Once it has gone to sleep.
  ASSERT_TRUE(samples_until(starved, [&] {
    const ProcessSample seen = ProcessWatch(process, Watched::kFirstThread, -1).sample();
    return seen.threads.size() == 1 && !seen.threads[0].ready && seen.threads[0].turns > 0;
  }));
  starved.begin();
  const double start_s = monotonic_s();
  ASSERT_TRUE(samples_until(starved, [&] { return monotonic_s() - start_s > 1; }));
  EXPECT_EQ(starved.seconds(), starved.halted_s());
}

TEST(StarvedTime, TreeWithoutAControlGroup_HasTheTimeOfItsProcesses) {
  constexpr double kWorked = 0.1;
  Children children;
  const auto work_for = [](double seconds) {
    const double end_s = static_cast<double>(CLOCKS_PER_SEC) * seconds;
    while (static_cast<double>(::clock()) < end_s) {
    }
  };
  const pid_t process = children.start(0, [&] {
    if (::fork() == 0) {
      work_for(kWorked);
      ::_exit(0);
    }
    ::wait(nullptr);
    if (::fork() == 0) {
      work_for(kWorked);
      sleep();
    }
    sleep();
  });
  const ProcessWatch watch(process, Watched::kTree, -1);
  const double end_s = monotonic_s() + kEver;
  const auto is_counted = [&] { return watch.ran_s() > 2 * kWorked - 0.03; };  // ticks of 10 ms
  while (!is_counted() && monotonic_s() < end_s) ::usleep(2'000);
  EXPECT_TRUE(is_counted()) << watch.ran_s();
  for (const pid_t child : children_of(process)) ::kill(child, SIGKILL);
}

TEST(StarvedTime, ProcessThatIsGone_IsNotStarved) {
  StarvedTime starved(ProcessWatch(-1, Watched::kThreads, -1));
  starved.begin();
  starved.sample();
  EXPECT_EQ(starved.seconds(), 0);
  EXPECT_EQ(StarvedTime().seconds(), 0);
}

TEST(StarvedTime, NoProcess_HasElapsedTimeAsItsOwn) {
  StarvedTime starved;
  starved.begin();
  ::usleep(2'000);
  starved.sample();
  EXPECT_GE(starved.own_s(), 0.002);
}

TEST(StarvedTime, LateSample_WaitForACoreIsNotOwnTime) {
  Children children;
  const pid_t process = children.start(19, work);
  for (int i = 0; i < 2; ++i) children.start(0, work);
  for (const Watched watched : {Watched::kFirstThread, Watched::kThreads, Watched::kTree}) {
    StarvedTime starved(ProcessWatch(process, watched, -1));
    starved.begin();
    EXPECT_EQ(starved.own_s(), 0);
    ::usleep(300'000);
    starved.sample();
    EXPECT_LT(starved.own_s(), 0.15);
  }
}

}  // namespace
}  // namespace hone
