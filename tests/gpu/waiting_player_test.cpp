// Processes that read hardware counters and wait for a profile, on the emulated driver: when they start, serve and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "base/files.hpp"
#include "gpu/comes_about.hpp"
#include "gpu/emulated_device_folder.hpp"
#include "gpu/emulated_gpu.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

// Ends in the judge. The player fills outputs with 0x5a before the call, so it does not end there.
constexpr const char* kEndsOnlyInTheJudge = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  volatile const unsigned* before = (volatile const unsigned*)out;
  while (i < n && *(before + i) == 0x5a5a5a5a) {}
  if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
)";

// The player fills outputs with 0x5a before the call, and the judge does not.
constexpr const char* kTrapsInThePlayer = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n && *((const unsigned*)out + i) == 0x5a5a5a5a) __trap();
  if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
)";

constexpr const char* kWrong = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = 7;
}
)";

class WaitingPlayer : public testing::Test {
 protected:
  void SetUp() override {
#ifdef HONE_SANITIZED
    GTEST_SKIP() << "the library is loaded in a sealed process";
#endif
    put_library();
  }
  void start(CountersAhead ahead, const std::vector<std::string>& off = {}) {
    EvaluatorOptions options = emulated_options("cuda");
    options.backend_library = folder_.path() / "backend_cuda_emulated.so";
    options.counters.path = library();
    options.counters_ahead = ahead;
    auto without = Defences::without(off);
    ASSERT_TRUE(without) << without.error().message;
    options.measure.defences = *without;
    launcher_ = std::move(Launcher::start({})).value();
    if (launcher_->level() < IsolationLevel::kPrivate) GTEST_SKIP() << "needs isolation 'private'";
    auto evaluator = make_evaluator(*launcher_, std::move(options), "emulated");
    ASSERT_TRUE(evaluator) << evaluator.error().message;
    evaluator_ = std::move(*evaluator);
  }
  fs::path library() const { return folder_.path() / "libcupti.so"; }
  /// Replaces the library as a package manager does: by a file with another inode.
  void put_library() {
    const fs::path fresh = folder_.path() / "libcupti.so.new";
    fs::copy_file(build_dir() / "tests/pretend_cupti.so", fresh);
    fs::rename(fresh, library());
  }

  Submission submission(const std::string& source, const std::string& client = "test") {
    Submission s;
    s.task = task_;
    s.source = source;
    s.language = s.backend = "cuda";
    s.client = client;
    s.episode = std::to_string(++episodes_);
    s.seed = 1;
    return s;
  }
  struct Profile {
    std::future<Result<Examination>> found;
    std::uint64_t id = 0;
  };
  Profile begin_profile(const std::string& source) {
    auto promise = std::make_shared<std::promise<Result<Examination>>>();
    Profile profile{promise->get_future()};
    const auto id = evaluator_->examine(
        submission(source), Tool::kProfile, [](Stage) {},
        [promise](Result<Examination> found) { promise->set_value(std::move(found)); });
    EXPECT_TRUE(id) << id.error().message;
    profile.id = id ? *id : 0;
    return profile;
  }
  /// Why the profile has no counters; empty: it has them.
  std::string trouble(const std::string& source = kBaseline, const std::string& client = "test") {
    return trouble_in(examine_and_wait(*evaluator_, submission(source, client), Tool::kProfile));
  }
  static std::string trouble_in(const Result<Examination>& found) {
    if (!found) return found.error().message;
    const Value* problem = found->facts.find("counters_problem");
    if (problem == nullptr) return "no facts: " + to_json(found->facts);
    return problem->is_string() ? problem->as_string() : "";
  }
  std::int64_t stat(const char* name) const {
    return evaluator_->stats().find("counter_processes")->find(name)->as_int();
  }
  /// The processes that have this test's library as an argument.
  std::set<int> players() const { return processes_with(library().string()); }

  static std::set<int> processes_with(const std::string& argument) {
    std::set<int> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = std::atoi(entry.path().filename().c_str());
      const auto command = pid > 0 ? read_file(entry.path() / "cmdline", 1 << 16)
                                   : Result<std::string>(invalid_argument("not a process"));
      if (command && command->find(argument) != std::string::npos) found.insert(pid);
    }
    return found;
  }

  EmulatedDeviceFolder folder_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  const std::shared_ptr<const Task> task_ = std::make_shared<const Task>(small_task("cuda"));
  int episodes_ = 0;

  /// Evaluates a submission, and gives the lane time to find that no job waits.
  void judge_one() {
    const auto verdict = judge_and_wait(*evaluator_, submission(kBaseline));
    ASSERT_TRUE(verdict) << verdict.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }
  /// The waiting process, stopped after it has opened the device.
  int stopped_player() {
    judge_one();
    const std::set<int> found = players();
    EXPECT_EQ(found.size(), 1u);
    const int pid = found.empty() ? 0 : *found.begin();
    if (pid > 0) {
      EXPECT_EQ(::kill(pid, SIGSTOP), 0);
    }
    return pid;
  }
};

TEST_F(WaitingPlayer, ServerWithoutProfiles_StartsNoneBeforeTheFirst) {
  start(CountersAhead::kAfterFirst);
  const auto verdict = judge_and_wait(*evaluator_, submission(kBaseline));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
  EXPECT_EQ(stat("started"), 0);
  EXPECT_EQ(trouble(), "");
  EXPECT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
}

TEST_F(WaitingPlayer, FromStart_ServesOneProfileAndIsReplaced) {
  start(CountersAhead::kFromStart);
  ASSERT_EQ(stat("waiting"), 1);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  const std::set<int> first = players();
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(stat("used"), 1);
  ASSERT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
  EXPECT_EQ(stat("started"), 2);
  EXPECT_TRUE(comes_about([&] { return players().size() == 1 && players() != first; }));
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(stat("used"), 2);
}

TEST_F(WaitingPlayer, ForOneProfile_IsNotReplaced) {
  start(CountersAhead::kOnce);
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(stat("used"), 1);
  const auto verdict = judge_and_wait(*evaluator_, submission(kBaseline));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(stat("started"), 1);
  EXPECT_EQ(stat("waiting"), 0);
}

TEST_F(WaitingPlayer, DiesWhileItWaits_AnotherOneServes) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  ASSERT_EQ(::kill(*players().begin(), SIGKILL), 0);
  ASSERT_TRUE(comes_about([this] { return players().empty(); }));
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(stat("started"), 2);
}

TEST_F(WaitingPlayer, DiesWhileItWaits_IsNotCountedAndStartsAgainOnlyForAProfile) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  ASSERT_EQ(::kill(*players().begin(), SIGKILL), 0);
  EXPECT_TRUE(comes_about([this] { return stat("waiting") == 0; }));
  for (int i = 0; i < 2; ++i) judge_one();
  EXPECT_EQ(stat("started"), 1);
  EXPECT_EQ(trouble(), "");
  EXPECT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
  EXPECT_EQ(stat("started"), 3);
}

TEST_F(WaitingPlayer, CuptiDoesNotKnowTheChip_IsTriedOnlyForProfilesAndLoggedOnce) {
  const fs::path unknown = folder_.path() / "unknown_chip";
  ASSERT_TRUE(write_file(unknown, ""));
  testing::internal::CaptureStderr();
  start(CountersAhead::kFromStart);
  for (int i = 0; i < 2; ++i) judge_one();
  EXPECT_EQ(stat("started"), 1);
  EXPECT_EQ(stat("waiting"), 0);
  EXPECT_THAT(trouble(), HasSubstr("hardware counters"));
  const std::int64_t after_profile = stat("started");
  EXPECT_GT(after_profile, 1);
  for (int i = 0; i < 2; ++i) judge_one();
  EXPECT_EQ(stat("started"), after_profile);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("run hone doctor");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("run hone doctor", first + 1), std::string::npos) << log;
  fs::remove(unknown);
  EXPECT_EQ(trouble(), "");
  EXPECT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
}

TEST_F(WaitingPlayer, DiesAfterItWasTaken_AnotherOneServesTheProfile) {
  start(CountersAhead::kOnce);
  const int pid = stopped_player();
  ASSERT_GT(pid, 0);
  Profile profile = begin_profile(kBaseline);
  ASSERT_TRUE(comes_about([this] { return stat("used") == 1; }));
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_EQ(trouble_in(profile.found.get()), "");
  EXPECT_EQ(stat("started"), 2);
}

TEST_F(WaitingPlayer, CannotUseTheDeviceAnyMore_AnotherOneServesTheProfile) {
  start(CountersAhead::kOnce);
  const int pid = stopped_player();
  ASSERT_GT(pid, 0);
  Profile profile = begin_profile(kBaseline);
  ASSERT_TRUE(comes_about([this] { return stat("used") == 1; }));
  folder_.lose_contexts();
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_EQ(trouble_in(profile.found.get()), "");
  EXPECT_EQ(stat("started"), 2);
}

TEST_F(WaitingPlayer, SubmissionThatFailsInIt_IsNotTriedAgain) {
  start(CountersAhead::kOnce);
  EXPECT_THAT(trouble(kTrapsInThePlayer), HasSubstr("the kernel broke off"));
  EXPECT_EQ(stat("started"), 1);
}

// The process starts although the first profile counts nothing, so the lane must keep and replace it, and budget its memory.
TEST_F(WaitingPlayer, FirstProfileIsOfAWrongSubmission_ItsProcessIsKept) {
  start(CountersAhead::kAfterFirst);
  EXPECT_NE(trouble(kWrong), "");
  ASSERT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
  EXPECT_EQ(stat("started"), 1);
  put_library();
  judge_one();
  EXPECT_TRUE(comes_about([this] { return stat("started") == 2; }));
  EXPECT_EQ(stat("waiting"), 1);
}

TEST_F(WaitingPlayer, LibraryIsReplaced_ProcessWithTheOldOneDoesNotServe) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  const std::set<int> first = players();
  put_library();
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(stat("started"), 2);
  EXPECT_TRUE(comes_about([&] { return players() != first; }));
}

TEST_F(WaitingPlayer, TwoProfilesAtOnce_HaveAProcessEach) {
  start(CountersAhead::kFromStart);
  Profile one = begin_profile(kBaseline), two = begin_profile(kBaseline);
  EXPECT_EQ(trouble_in(one.found.get()), "");
  EXPECT_EQ(trouble_in(two.found.get()), "");
  EXPECT_GE(stat("started"), 2);
  EXPECT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
  EXPECT_EQ(stat("started"), 3);
}

TEST_F(WaitingPlayer, EndOfTheServer_EndsIt) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  evaluator_.reset();
  EXPECT_TRUE(comes_about([this] { return players().empty(); }));
}

TEST_F(WaitingPlayer, JudgeIsLost_ItsPlayerEndsAsWell) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  const std::set<int> first = players();
  ASSERT_EQ(folder_.kill_judges(), 1);
  const auto verdict = judge_and_wait(*evaluator_, submission(kBaseline));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(comes_about([&] { return players().size() == 1 && players() != first; }));
  EXPECT_EQ(trouble(), "");
}

TEST_F(WaitingPlayer, CancelledProfile_EndsItsProcess) {
  start(CountersAhead::kFromStart);
  ASSERT_TRUE(comes_about([this] { return players().size() == 1; }));
  const std::set<int> first = players();
  Profile profile = begin_profile(kEndsOnlyInTheJudge);
  ASSERT_TRUE(comes_about([this] { return stat("used") == 1; }));
  evaluator_->cancel(profile.id);
  const auto found = profile.found.get();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kCancelled);
  EXPECT_TRUE(comes_about([&] { return players().size() == 1 && players() != first; }));
  EXPECT_EQ(trouble(), "");
}

// Attacks: a submission leaves something in the memory of the process for the next one.

constexpr const char* kFillsTheHeap = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) { float sum = x[i] + y[i]; out[i] = sum > 0 ? sum : 0; }
  for (size_t bytes = 1u << 20; i == 0 && bytes >= 64; bytes /= 2) {
    while (unsigned* chunk = (unsigned*)malloc(bytes)) chunk[0] = 0x600d600d;
  }
}
)";

// A submission of another client. It faults if the heap is full.
constexpr const char* kNeedsTheHeap = R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) { float sum = x[i] + y[i]; out[i] = sum > 0 ? sum : 0; }
  if (i != 0) return;
  void* chunk = malloc(256);
  if (chunk == NULL) __trap();
  free(chunk);
}
)";

TEST_F(WaitingPlayer, SubmissionThatFillsTheHeap_DoesNotAffectTheNext) {
  start(CountersAhead::kFromStart);
  EXPECT_EQ(trouble(kFillsTheHeap, "attacker"), "");
  ASSERT_TRUE(comes_about([this] { return stat("waiting") == 1; }));
  EXPECT_EQ(trouble(kNeedsTheHeap, "honest"), "");
  EXPECT_EQ(stat("used"), 2);
}

#if defined(HONE_TEST_BUILD)
TEST_F(WaitingPlayer, SubmissionThatFillsTheHeap_FailsTheNextIfTheProcessServesTwo) {
  start(CountersAhead::kFromStart, {"own_player"});
  EXPECT_EQ(trouble(kNeedsTheHeap, "honest"), "");
  EXPECT_EQ(trouble(kFillsTheHeap, "attacker"), "");
  EXPECT_THAT(trouble(kNeedsTheHeap, "honest"), HasSubstr("the kernel broke off"));
  EXPECT_EQ(stat("started"), 1);
}
#endif

}  // namespace
}  // namespace hone::test
