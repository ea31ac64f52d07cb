// A submission on a machine that gives it no processor time: a fault, never an outcome.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files.hpp"
#include "base/priority.hpp"
#include "evaluate/shared_machine.hpp"
#include "sandbox/process_watch.hpp"

namespace hone {
namespace {

/// Needs this much processor time in each of its checks.
std::string busy_for(double seconds, const std::string& how = "") {
  return "#include <cstdint>\n#include <time.h>\n"
         "static double used() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);"
         " return t.tv_sec + 1e-9 * t.tv_nsec; }\n"
         "extern \"C\" void add_relu(const float* x, const float* y, float* out, int64_t n) {" +
         how + "const double end = used() + " + std::to_string(seconds) +
         "; if (n == 1003) while (used() < end) {}"
         "for (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; out[i] = s > 0 ? s : 0; } }";
}

std::shared_ptr<const Task> task_with_limit(test::Machine& machine, double run_seconds) {
  auto task = std::make_shared<Task>(*machine.task("add_relu"));
  task->run_seconds = run_seconds;
  return task;
}

/// Judges, and calls `checking` once the submission is being checked.
Result<Verdict> judge(test::Machine& machine, std::shared_ptr<const Task> task, std::string source,
                      const std::function<void()>& checking) {
  Submission submission;
  submission.task = std::move(task);
  submission.source = std::move(source);
  submission.language = "c++";
  submission.client = submission.episode = "test";
  submission.seed = 1;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<Verdict>> verdict;
  std::once_flag once;
  const auto id = machine.evaluator().submit(
      std::move(submission),
      [&](Stage stage) {
        if (stage == Stage::kChecking) std::call_once(once, checking);
      },
      [&](Result<Verdict> done) {
        const std::lock_guard lock(mutex);
        verdict = std::move(done);
        changed.notify_all();
      });
  if (!id) return id.error();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return verdict.has_value(); });
  return std::move(*verdict);
}

/// Processes that keep all cores busy at a priority, once they are told to.
class Hogs {
 public:
  explicit Hogs(int nice, unsigned for_each_core = 2) {
    for (unsigned i = 0; i < for_each_core * std::thread::hardware_concurrency(); ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::setsid();  // a scheduling group of its own
        set_priority(0, nice);
        ::alarm(120);
        ::raise(SIGSTOP);
        volatile bool goes_on = true;
        while (goes_on) {
        }
      }
      int status = 0;
      ::waitpid(pid, &status, WUNTRACED);
      pids_.push_back(pid);
    }
  }
  ~Hogs() {
    for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  }
  void go() const {
    for (const pid_t pid : pids_) ::kill(pid, SIGCONT);
  }
  void stop() const {
    for (const pid_t pid : pids_) ::kill(pid, SIGSTOP);
  }

 private:
  std::vector<pid_t> pids_;
};

class Starved : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can have a better priority than candidates";
  }
};

/// A fault, or correct where the machine has cores to spare; never an outcome that is held against it. The account of starved
/// time lags by up to two looks of 25 ms, so the submission stays 100 ms below its limit.
void expect_no_timeout(const Hogs& hogs) {
  const auto machine = test::Machine::start(test::quick_options());
  ASSERT_TRUE(machine) << machine.error().message;
  const auto verdict =
      judge(**machine, task_with_limit(**machine, 0.25), busy_for(0.15), [&] { hogs.go(); });
  hogs.stop();  // stopping the test's machine needs cores, too
  if (verdict) {
    EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
    return;
  }
  EXPECT_EQ(verdict.error().code, Code::kUnavailable);
  EXPECT_NE(verdict.error().message.find("starved"), std::string::npos) << verdict.error().message;
}

TEST_F(Starved, HonestSubmissionWithoutACore_IsAFaultNotATimeout) { expect_no_timeout(Hogs(-20)); }

/// It gets a core again and again, for a few milliseconds each time.
TEST_F(Starved, HonestSubmissionWithAShareOfACore_IsNotTimedOut) {
  expect_no_timeout(Hogs(-10, 1));
  expect_no_timeout(Hogs(0));
}

TEST_F(Starved, SubmissionThatSleeps_IsTimedOutAllTheSame) {
  const Hogs hogs(-20);
  const auto machine = test::Machine::start(test::quick_options());
  ASSERT_TRUE(machine) << machine.error().message;
  const auto verdict =
      judge(**machine, task_with_limit(**machine, 0.5),
            busy_for(0, "const timespec t{60, 0}; nanosleep(&t, nullptr);"), [&] { hogs.go(); });
  hogs.stop();
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kTimedOut) << verdict->reason;
}

/// A fault, or correct where the machine has cores to spare. There is no control group that counts the builder's time.
TEST_F(Starved, HonestCompilerWithoutACore_IsAFaultNotABuildFailure) {
  const Hogs hogs(-20);
  EvaluatorOptions options = test::quick_options();
  options.build_seconds = 0.5;
  LauncherOptions launcher;
  launcher.freezer = "ptrace";
  const auto machine = test::Machine::start(std::move(options), launcher);
  ASSERT_TRUE(machine) << machine.error().message;
  hogs.go();
  const auto verdict = judge(**machine, task_with_limit(**machine, 2), busy_for(0), [] {});
  hogs.stop();
  if (verdict) {
    EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
    return;
  }
  EXPECT_EQ(verdict.error().code, Code::kUnavailable);
  EXPECT_NE(verdict.error().message.find("processor time"), std::string::npos)
      << verdict.error().message;
}

/// Its builder gets too little processor time, too, but its compiler only waits.
TEST_F(Starved, CompilerThatWaits_IsTimedOutAllTheSame) {
  const Hogs hogs(-15);
  EvaluatorOptions options = test::quick_options();
  options.build_seconds = 1;
  const auto machine = test::Machine::start(std::move(options));
  ASSERT_TRUE(machine) << machine.error().message;
  hogs.go();
  const auto verdict = judge(**machine, task_with_limit(**machine, 0.5),
                             "#include \"/proc/self/fd/2\"\n" + busy_for(0), [] {});
  hogs.stop();
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kBuildFailed) << verdict->reason;
}

void add_all_below(pid_t process, std::vector<pid_t>& to) {
  for (const pid_t child : children_of(process)) {
    to.push_back(child);
    add_all_below(child, to);
  }
}

/// As a closed lid or a paused virtual machine does, but for the host.
TEST(Halted, SubmissionOfAStoppedMachine_IsJudgedAsIfItHadNotStopped) {
  const auto machine = test::Machine::start(test::quick_options());
  ASSERT_TRUE(machine) << machine.error().message;
  std::thread stopper;
  const auto stop = [&] {
    stopper = std::thread([] {
      std::vector<pid_t> all;
      add_all_below(::getpid(), all);
      for (const pid_t pid : all) ::kill(pid, SIGSTOP);
      const timespec longer_than_the_limit{6, 0};
      ::nanosleep(&longer_than_the_limit, nullptr);
      for (const pid_t pid : all) ::kill(pid, SIGCONT);
    });
  };
  const auto verdict = judge(**machine, task_with_limit(**machine, 3), busy_for(0.5), stop);
  stopper.join();
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
}

}  // namespace
}  // namespace hone
