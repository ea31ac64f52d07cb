// Freezers: after freeze() no thread of the process runs, and after thaw() all of them do.
#include "sandbox/freezer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/clock.hpp"
#include "counting_acts.hpp"
#include "sandbox_fixture.hpp"

namespace hone {
namespace {

using Snapshot = std::array<std::uint64_t, kCounters>;

/// A subject that counts in a shared page, in a jail of a launcher with the freezer under test.
class EachFreezer : public testing::TestWithParam<const char*> {
 protected:
  static constexpr double kPatience = 20;

  void SetUp() override {
    LauncherOptions options;
    options.minimum = IsolationLevel::kNone;
    options.freezer = GetParam();
    auto started = Launcher::start(options);
    if (!started) {
      const std::string reason = started.error().message;
      ASSERT_EQ(reason.find("freezer: no"), 0u) << reason;
      GTEST_SKIP() << reason;
    }
    launcher_ = std::move(*started);
    EXPECT_EQ(launcher_->freezer(), GetParam());
    memory_.reset(::memfd_create("counters", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(memory_.get(), sizeof(CountersPage)), 0);
    page_ = static_cast<CountersPage*>(::mmap(nullptr, sizeof(CountersPage), PROT_READ | PROT_WRITE,
                                              MAP_SHARED, memory_.get(), 0));
  }
  void TearDown() override {
    if (page_ != nullptr) ::munmap(page_, sizeof(CountersPage));
  }

  void start(const std::string& act) {
    SpawnRequest request = probe_request(Jail::kCandidate, act);
    request.fds = {memory_.get()};
    // The kernel frees what it kept for ended threads later, and much later on a busy machine; until then it counts.
    request.limits.memory_bytes = std::int64_t{1} << 30;
    auto process = launcher_->spawn(request);
    ASSERT_TRUE(process) << process.error().message;
    process_ = std::move(*process);
    auto freezer = std::string(GetParam()) == "cgroup"
                       ? Freezer::with_cgroup(process_->freeze_fd(), process_->frozen_events_fd())
                       : Freezer::with_ptrace(process_->pid());
    ASSERT_TRUE(freezer) << freezer.error().message;
    freezer_ = std::move(*freezer);
  }

  Snapshot snapshot() const {
    Snapshot now;
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = page_->counters[i].load();
    return now;
  }

  /// Serves the freezer until a counter has moved on from `from`.
  bool moves_on(const Snapshot& from) {
    const double deadline = monotonic_s() + kPatience;
    while (snapshot() == from) {
      if (monotonic_s() > deadline) return false;
      freezer_->service();
    }
    return true;
  }

  void expect_gone_once_killed() {
    process_->kill();
    // A thread that ptrace holds is reaped by its tracer first.
    const double deadline = monotonic_s() + kPatience;
    Status last;
    do {
      last = freezer_->freeze(1);
    } while (last && monotonic_s() < deadline);
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().code, Code::kNotFound) << last.error().message;
    auto exit = process_->wait(kPatience);
    ASSERT_TRUE(exit) << exit.error().message;
    EXPECT_EQ(exit->signal, SIGKILL);
  }

  void serve_for_us(std::int64_t us) {
    const std::int64_t end = monotonic_ns() + us * 1000;
    while (monotonic_ns() < end) freezer_->service();
  }

  void freeze_many_times(const std::string& act, int times) {
    start(act);
    ASSERT_NE(freezer_, nullptr);
    ASSERT_TRUE(moves_on({}));
    for (int i = 0; i < times; ++i) {
      serve_for_us(i * 7 % 300);
      const Status frozen = freezer_->freeze(5);
      ASSERT_TRUE(frozen) << "freeze " << i << ": " << frozen.error().message;
      const Snapshot before = snapshot();
      // Long enough for a timer of the subject, or a thread on the other cpu, to show itself.
      const std::int64_t end = monotonic_ns() + 150'000;
      while (monotonic_ns() < end) ASSERT_EQ(snapshot(), before) << "freeze " << i;
      ASSERT_TRUE(freezer_->thaw());
      ASSERT_TRUE(moves_on(before)) << "freeze " << i;
    }
  }

  std::unique_ptr<Launcher> launcher_;
  UniqueFd memory_;
  CountersPage* page_ = nullptr;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Freezer> freezer_;
};

TEST_P(EachFreezer, Threads_Stop) { freeze_many_times("count-threads", 300); }
TEST_P(EachFreezer, TimersThatSendSigcont_Stop) { freeze_many_times("count-timer", 300); }
TEST_P(EachFreezer, ThreadsDuringTheirCreation_Stop) { freeze_many_times("count-births", 300); }
TEST_P(EachFreezer, ProcessWithManySignals_Stops) { freeze_many_times("count-signals", 300); }
TEST_P(EachFreezer, SealedCandidate_Stops) { freeze_many_times("count-sealed", 100); }
TEST_P(EachFreezer, FirstThreadHasEnded_ProcessStops) { freeze_many_times("count-leaderless", 50); }

TEST_P(EachFreezer, SecondFreezeOrThaw_ChangesNothing) {
  start("count-threads");
  ASSERT_TRUE(moves_on({}));
  ASSERT_TRUE(freezer_->freeze(5));
  ASSERT_TRUE(freezer_->freeze(5));
  const Snapshot before = snapshot();
  ASSERT_TRUE(freezer_->thaw());
  ASSERT_TRUE(freezer_->thaw());
  EXPECT_TRUE(moves_on(before));
}

TEST_P(EachFreezer, EndedProcess_IsReported) {
  start("count-threads");
  ASSERT_TRUE(moves_on({}));
  expect_gone_once_killed();
}

/// A thread whose creator is killed before its clone event arrives must be waited for, too, or its process
/// is never reaped.
TEST_P(EachFreezer, ProcessKilledDuringThreadCreation_IsReported) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    start("count-births");
    ASSERT_TRUE(moves_on(snapshot()));
    expect_gone_once_killed();
    freezer_.reset();
    process_.reset();
  }
}

TEST_P(EachFreezer, FrozenProcess_CanBeKilled) {
  start("count-threads");
  ASSERT_TRUE(moves_on({}));
  ASSERT_TRUE(freezer_->freeze(5));
  process_->kill();
  freezer_.reset();
  auto exit = process_->wait(kPatience);
  ASSERT_TRUE(exit) << exit.error().message;
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST_P(EachFreezer, Destructor_ResumesTheProcess) {
  start("count-threads");
  ASSERT_TRUE(moves_on({}));
  freezer_.reset();
  const Snapshot before = snapshot();
  const double deadline = monotonic_s() + kPatience;
  while (snapshot() == before && monotonic_s() < deadline) {
  }
  EXPECT_NE(snapshot(), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachFreezer, testing::Values("cgroup", "ptrace"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(PtraceFreezer, ProcessStopsItself_IsIgnored) {
  LauncherOptions options;
  options.minimum = IsolationLevel::kNone;
  options.freezer = "ptrace";
  auto launcher = Launcher::start(options);
  if (!launcher) GTEST_SKIP() << launcher.error().message;
  const UniqueFd memory(::memfd_create("counters", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(memory.get(), sizeof(CountersPage)), 0);
  auto* page = static_cast<CountersPage*>(
      ::mmap(nullptr, sizeof(CountersPage), PROT_READ, MAP_SHARED, memory.get(), 0));
  SpawnRequest request = probe_request(Jail::kCandidate, "count-stops");
  request.fds = {memory.get()};
  auto process = (*launcher)->spawn(request);
  ASSERT_TRUE(process) << process.error().message;
  auto freezer = Freezer::with_ptrace((*process)->pid());
  ASSERT_TRUE(freezer) << freezer.error().message;
  const double deadline = monotonic_s() + 20;
  while (page->counters[0].load() < 100 && monotonic_s() < deadline) (*freezer)->service();
  EXPECT_GE(page->counters[0].load(), 100u);
  EXPECT_TRUE((*freezer)->freeze(5));
  ::munmap(page, sizeof(CountersPage));
}

TEST(CgroupFreezer, NoDescriptors_IsAnError) {
  const auto freezer = Freezer::with_cgroup(-1, -1);
  ASSERT_FALSE(freezer);
  EXPECT_EQ(freezer.error().message, "freezer: the process has no cgroup");
}

TEST(PtraceFreezer, NoProcess_IsAnError) {
  const auto freezer = Freezer::with_ptrace(0x3ffffff);
  ASSERT_FALSE(freezer);
  EXPECT_EQ(freezer.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace hone
