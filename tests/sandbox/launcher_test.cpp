// The launcher: starts, limits, exits, and that no process outlives its owner.
#include "sandbox/launcher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>

#include "base/clock.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox_fixture.hpp"

namespace hone {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Jails : public EachLevel {};

TEST_P(Jails, ExitCodesAndSignals_AreReported) {
  EXPECT_EQ(candidate("exit", "0").exit_code, 0);
  EXPECT_EQ(candidate("exit", "77").exit_code, 77);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGTERM, SIGTRAP}) {
    for (const Jail jail : {Jail::kCandidate, Jail::kBuilder}) {
      const ProcessExit exit = run(probe_request(jail, "signal", std::to_string(signal)));
      EXPECT_EQ(exit.signal, signal);
      EXPECT_EQ(exit.exit_code, -1);
      EXPECT_FALSE(exit.out_of_memory);
    }
  }
  EXPECT_EQ(candidate("seal:abort").signal, SIGABRT);
}

TEST_P(Jails, Environment_IsEmpty) {
  const std::string seen = candidate("environment").output;
  EXPECT_THAT(seen, HasSubstr("PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\n"));
  EXPECT_THAT(seen, HasSubstr("cwd=/ "));
  const std::string of_builder = builder("environment").output;
  EXPECT_THAT(of_builder, HasSubstr("TMPDIR="));
  EXPECT_THAT(of_builder, testing::Not(HasSubstr("HOME=")));
}

TEST_P(Jails, User_IsNotThatOfTheHost) {
  if (GetParam().level < IsolationLevel::kSeparated) GTEST_SKIP() << "filtered keeps the user";
  EXPECT_THAT(candidate("environment").output, HasSubstr("user=other"));
}

TEST_P(Jails, MemoryLimit_KillsTheProcessAndIsReported) {
  for (const Jail jail : {Jail::kCandidate, Jail::kBuilder}) {
    const ProcessExit exit = run(probe_request(jail, "memory"));
    EXPECT_TRUE(exit.out_of_memory);
    EXPECT_EQ(exit.signal, SIGKILL);
    EXPECT_GT(exit.peak_bytes, 64 << 20);
    EXPECT_LT(exit.peak_bytes, 512 << 20);
  }
}

TEST_P(Jails, GigabyteOfOutput_KeepsItsEnd) {
  const ProcessExit exit = candidate("seal:flood");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(exit.output.size(), 64u << 10);
  EXPECT_THAT(exit.output, EndsWith("xthe end\n"));
}

TEST_P(Jails, DaemonThatABuilderLeft_IsEnded) {
  for (const char* act : {"daemon", "build:daemon"}) {
    SpawnRequest request = probe_request(Jail::kBuilder, act);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    request.fds = {ends[1]};  // the daemon keeps this end open for as long as it lives
    EXPECT_EQ(run(request).exit_code, 0);
    ::close(ends[1]);
    char byte = 0;
    pollfd hung_up{ends[0], POLLIN, 0};
    EXPECT_EQ(::poll(&hung_up, 1, 0), 1) << "after wait() all it started is gone";
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
  }
}

TEST_P(Jails, ForkBomb_IsEnded) {
  for (const char* act : {"build:fork-bomb", "build:fork-chain"}) {
    SpawnRequest request = probe_request(Jail::kBuilder, act);
    request.limits.memory_bytes = 1 << 30;  // where it is polled, what they share counts for each
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    request.fds = {ends[1]};
    auto process = launcher_->spawn(request);
    ASSERT_TRUE(process) << process.error().message;
    ::close(ends[1]);
    char bytes[8];
    // A sign of life of each of the bomb's processes. The chain's first link ends the build.
    const int lives = std::string_view(act) == "build:fork-bomb" ? 12 : 0;
    for (int i = 0; i < lives; ++i) ASSERT_EQ(::read(ends[0], bytes, 1), 1);
    if (lives > 0) (*process)->kill();
    auto exit = (*process)->wait(kPatience);
    ASSERT_TRUE(exit) << exit.error().message;
    ssize_t n = 1;
    while (n > 0) n = ::read(ends[0], bytes, sizeof bytes);
    EXPECT_EQ(n, 0) << "the last of them has let go of the pipe";
    ::close(ends[0]);
  }
}

TEST_P(Jails, TooManyThreadsOrDescriptors_EndWithAnError) {
  EXPECT_EQ(builder("thread-bomb").output, "EAGAIN\n");
  EXPECT_EQ(candidate("seal:descriptors").output, "EMFILE\n");
}

TEST_P(Jails, Spinner_MeetsItsCpuLimit) {
  SpawnRequest request = probe_request(Jail::kCandidate, "seal:spin");
  request.limits.cpu_seconds = 1;
  const ProcessExit exit = run(request);
  EXPECT_EQ(signal_name(exit.signal), "SIGXCPU");
  EXPECT_GE(exit.cpu_seconds, 0.5);  // a kernel counts ticks: of a busy machine's second, not all
}

TEST_P(Jails, StoppedProcess_CanBeKilled) {
  for (const char* act : {"stop", "seal:wait", "seal:spin"}) {
    auto process = launcher_->spawn(probe_request(Jail::kCandidate, act));
    ASSERT_TRUE(process) << process.error().message;
    EXPECT_EQ((*process)->wait(0).error().code, Code::kDeadlineExceeded);
    (*process)->kill();
    auto exit = (*process)->wait(kPatience);
    ASSERT_TRUE(exit) << exit.error().message;
    EXPECT_EQ(exit->signal, SIGKILL);
  }
  EXPECT_EQ(candidate("seal:close").exit_code, 0);
}

TEST_P(Jails, DroppingAProcess_EndsIt) {
  auto process = launcher_->spawn(probe_request(Jail::kCandidate, "wait"));
  ASSERT_TRUE(process) << process.error().message;
  const UniqueFd pidfd(::dup((*process)->pidfd()));
  (*process).reset();
  pollfd ended{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
}

TEST_P(Jails, GivenDescriptors_AreInOrder) {
  SpawnRequest request = probe_request(Jail::kCandidate, "write-3");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  request.fds = {ends[1], ends[0]};
  EXPECT_EQ(run(request).output, "descriptors 3 4\n");
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, '3');
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(Jails, DescriptorsThatWereNotGiven_AreClosed) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  for (const Jail jail : {Jail::kCandidate, Jail::kBuilder}) {
    SpawnRequest request = probe_request(jail, "open-descriptors");
    request.fds = {ends[1]};
    EXPECT_EQ(run(request).output, "0 1 2 3 \n");
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(Jails, ThreadNumber_IsTheirOwn) {
  EXPECT_EQ(candidate("thread-number").output, "its own\n");
  EXPECT_EQ(builder("thread-number").output, "its own\n");
}

TEST_P(Jails, FailedStart_ReportsTheReason) {
  if (GetParam().image) GTEST_SKIP() << "an image is no program";
  SpawnRequest request = probe_request(Jail::kCandidate, "x");
  request.program = "/usr/lib/no-such-program";
  const auto process = launcher_->spawn(request);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, Code::kUnavailable);
  EXPECT_EQ(process.error().message,
            "x: start /usr/lib/no-such-program: no such file or directory");
}

TEST_P(Jails, ManyThreads_MaySpawnAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) {
        const Jail jail = (i + k) % 2 == 0 ? Jail::kCandidate : Jail::kBuilder;
        if (run(probe_request(jail, "exit", std::to_string(i))).exit_code == i) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

INSTANTIATE_TEST_SUITE_P(Levels, Jails, testing::ValuesIn(kSettings), name_of);

LauncherOptions any_level() {
  LauncherOptions options;
  options.minimum = IsolationLevel::kNone;
  return options;
}

TEST(Launcher, Judge_StartsWithoutAJail) {
  auto launcher = Launcher::start(any_level());
  ASSERT_TRUE(launcher) << launcher.error().message;
  auto judge = (*launcher)->spawn(probe_request(Jail::kJudge, "read", "/etc/passwd"));
  ASSERT_TRUE(judge) << judge.error().message;
  EXPECT_EQ((*judge)->freeze_fd(), -1);
  auto exit = (*judge)->wait(20);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->exit_code, 0);
}

TEST(Launcher, AllSlotsTaken_IsReported) {
  LauncherOptions options = any_level();
  options.slots = 1;
  auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher) << launcher.error().message;
  auto first = (*launcher)->spawn(probe_request(Jail::kCandidate, "wait"));
  ASSERT_TRUE(first) << first.error().message;
  const auto second = (*launcher)->spawn(probe_request(Jail::kCandidate, "wait"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kResourceExhausted);
  EXPECT_EQ(second.error().message, "wait: all 1 slots are taken");
  (*first)->kill();
  ASSERT_TRUE((*first)->wait(20));
  EXPECT_TRUE((*launcher)->spawn(probe_request(Jail::kCandidate, "wait")));
}

TEST(Launcher, LevelBelowTheMinimum_IsRefused) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kPrivate;
  options.maximum = IsolationLevel::kFiltered;
  const auto launcher = Launcher::start(options);
  ASSERT_FALSE(launcher);
  EXPECT_EQ(launcher.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(launcher.error().message, HasSubstr("expected at least private"));
}

TEST(Launcher, TwoLaunchers_ShareNoUsers) {
  auto one = Launcher::start(any_level());
  auto two = Launcher::start(any_level());
  ASSERT_TRUE(one && two);
  if ((*one)->level() < IsolationLevel::kSeparated || !(*one)->capabilities().slot_users) {
    GTEST_SKIP() << "jails have no users of their own: the unsealed probe would kill this test";
  }
  auto kept = (*one)->spawn(probe_request(Jail::kCandidate, "wait"));
  ASSERT_TRUE(kept) << kept.error().message;
  auto killer = (*two)->spawn(probe_request(Jail::kCandidate, "kill-all"));
  ASSERT_TRUE(killer) << killer.error().message;
  ASSERT_TRUE((*killer)->wait(20));
  EXPECT_EQ((*kept)->wait(0).error().code, Code::kDeadlineExceeded);
}

uid_t user_of(const Process& process) {
  struct stat status {};
  EXPECT_EQ(::stat(("/proc/" + std::to_string(process.pid())).c_str(), &status), 0);
  return status.st_uid;
}

TEST(Launcher, ManySlots_HaveUsersThatNoOtherLauncherHas) {
  constexpr int kSlots = 257;  // one more than a block of users
  LauncherOptions options = any_level();
  options.slots = kSlots;
  auto one = Launcher::start(options);
  ASSERT_TRUE(one) << one.error().message;
  auto two = Launcher::start(any_level());
  ASSERT_TRUE(two) << two.error().message;
  if ((*one)->level() < IsolationLevel::kSeparated || !(*one)->capabilities().slot_users) {
    GTEST_SKIP() << "jails have no users of their own";
  }
  std::vector<std::unique_ptr<Process>> processes;
  std::set<uid_t> users;
  for (int i = 0; i < kSlots; ++i) {
    auto process = (*one)->spawn(probe_request(Jail::kCandidate, "wait"));
    ASSERT_TRUE(process) << process.error().message;
    users.insert(user_of(**process));
    processes.push_back(std::move(*process));
  }
  EXPECT_EQ(users.size(), static_cast<std::size_t>(kSlots));
  auto other = (*two)->spawn(probe_request(Jail::kCandidate, "wait"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(users.count(user_of(**other)), 0u);
}

pid_t parent_of(pid_t pid) {
  const std::string stat = read_kernel_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? -1 : std::atoi(stat.c_str() + name_end + 4);
}

bool ends(const UniqueFd& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 20'000) == 1;
}

UniqueFd open_pid(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

TEST(Launcher, DeathOfTheLauncher_EndsAllProcesses) {
  auto launcher = Launcher::start(any_level());
  ASSERT_TRUE(launcher) << launcher.error().message;
  auto candidate = (*launcher)->spawn(probe_request(Jail::kCandidate, "wait"));
  auto builder = (*launcher)->spawn(probe_request(Jail::kBuilder, "wait"));
  ASSERT_TRUE(candidate && builder);
  ::kill(parent_of((*candidate)->pid()), SIGKILL);
  const auto exit = (*candidate)->wait(20);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().message, "the launcher process has ended");
  pollfd ended[] = {{(*candidate)->pidfd(), POLLIN, 0}, {(*builder)->pidfd(), POLLIN, 0}};
  for (pollfd& each : ended) EXPECT_EQ(::poll(&each, 1, 20'000), 1);
  EXPECT_FALSE((*launcher)->alive());
  EXPECT_EQ((*launcher)->spawn(probe_request(Jail::kCandidate, "wait")).error().code,
            Code::kUnavailable);
}

/// In a child that plays the host: starts a launcher and two jails, tells their pids, and waits to
/// be killed.
[[noreturn]] void play_host(int answer) {
  auto launcher = Launcher::start(any_level());
  if (!launcher) ::_exit(1);
  auto candidate = (*launcher)->spawn(probe_request(Jail::kCandidate, "wait"));
  auto builder = (*launcher)->spawn(probe_request(Jail::kBuilder, "daemon-and-wait"));
  if (!candidate || !builder) ::_exit(1);
  const pid_t pids[] = {parent_of((*candidate)->pid()), (*candidate)->pid(), (*builder)->pid()};
  if (::write(answer, pids, sizeof pids) != sizeof pids) ::_exit(1);
  for (;;) ::pause();
}

TEST(Launcher, DeathOfTheHost_EndsAllProcesses) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t host = ::fork();
  if (host == 0) play_host(pipe_ends[1]);
  pid_t pids[3] = {};
  ASSERT_EQ(::read(pipe_ends[0], pids, sizeof pids), static_cast<ssize_t>(sizeof pids));
  const UniqueFd launcher = open_pid(pids[0]), candidate = open_pid(pids[1]),
                 builder = open_pid(pids[2]);
  ASSERT_TRUE(launcher && candidate && builder);
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(ends(candidate));
  EXPECT_TRUE(ends(builder));
  EXPECT_TRUE(ends(launcher));
  const std::string name = "hone-" + std::to_string(pids[0]) + "-";
  std::vector<std::string> notes;
  const CgroupRoots roots = find_cgroups(&notes);
  const std::string temporary = std::filesystem::temp_directory_path().string();
  for (const std::string& root : {roots.v2, roots.v1_memory, roots.v1_pids, temporary}) {
    if (root.empty()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      EXPECT_NE(entry.path().filename().string().rfind(name, 0), 0u) << entry.path();
    }
  }
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(Launcher, ImageThatNeverLoads_IsNotAwaited) {
  LauncherOptions options = any_level();
  options.image = {"/bin/sleep", "1000"};
  options.image_seconds = 0.1;
  const auto late = Launcher::start(options);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(late.error().message, "/bin/sleep was not ready within 0 s");
  options.image_seconds = 1000;
  const UniqueFd given_up(::eventfd(1, EFD_CLOEXEC));
  options.given_up = given_up.get();
  const auto unneeded = Launcher::start(options);
  ASSERT_FALSE(unneeded);
  EXPECT_EQ(unneeded.error().code, Code::kCancelled);
  options.image = {"/nonexistent"};
  options.given_up = -1;
  EXPECT_EQ(Launcher::start(options).error().message, "/nonexistent ended before it was ready");
}

TEST(Launcher, ImageThatIsLoading_EndsWithItsHost) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t host = ::fork();
  if (host == 0) {
    ::dup2(pipe_ends[1], 1);
    LauncherOptions options = any_level();
    options.image = {"/bin/sh", "-c", "echo $$; exec sleep 1000"};
    ::_exit(Launcher::start(options) ? 1 : 2);
  }
  char text[32] = {};
  ASSERT_GT(::read(pipe_ends[0], text, sizeof text - 1), 0);
  const UniqueFd loading = open_pid(std::atoi(text));
  ASSERT_TRUE(loading);
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(ends(loading));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(SignalName, UnknownSignal_IsItsNumber) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(SIGSYS), "SIGSYS");
  EXPECT_EQ(signal_name(77), "signal 77");
}

}  // namespace
}  // namespace hone
