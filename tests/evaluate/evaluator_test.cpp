// The evaluator: limits, cancellation, deadlines, repetition, admission, and machines with fewer sandbox features.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "evaluate/build_pool.hpp"
#include "evaluate/shared_machine.hpp"
#include "evaluate/sources.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

using test::machine;

constexpr const char* kRight =
    "#include <cstdint>\nextern \"C\" void add_relu(const float* x, const float* y, float* out, "
    "int64_t n) {\n"
    "for (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; out[i] = s > 0 ? s : 0; } }\n";
constexpr const char* kSpins =
    "#include <cstdint>\nextern \"C\" void add_relu(const float*, const float*, float*, int64_t) "
    "{\n"
    "for (volatile int i = 0;; i = i + 1) {} }\n";

Submission submission(const std::string& source) {
  Submission s;
  s.task = machine().task("add_relu");
  s.language = "c++";
  s.source = source;
  s.client = "test";
  s.episode = "e";
  s.seed = 1;
  return s;
}

TEST(Evaluator, LanguageOrBackendTheTaskLacks_IsRefused) {
  Submission s = submission(kRight);
  s.language = "fortran";
  EXPECT_EQ(machine().evaluator().submit(s, {}, {}).error().message,
            "language 'fortran' is not a language of the task");
  s.language = "c++";
  s.backend = "cuda";
  EXPECT_EQ(machine().evaluator().submit(s, {}, {}).error().message,
            "task add_relu cannot be run on backend 'cuda'");
}

/// Submits, cancels once the submission is being checked, and returns the answer.
Result<Verdict> cancelled(const Submission& s) {
  std::promise<Result<Verdict>> promise;
  std::promise<void> checking;
  std::atomic<bool> told{false};
  auto future = promise.get_future();
  auto id = machine().evaluator().submit(
      s,
      [&](Stage stage) {
        if (stage == Stage::kChecking && !told.exchange(true)) checking.set_value();
      },
      [&](Result<Verdict> v) { promise.set_value(std::move(v)); });
  if (!id) return id.error();
  checking.get_future().wait();
  machine().evaluator().cancel(*id);
  return future.get();
}

TEST(Evaluator, Cancel_EndsARunningSubmission) {
  const auto result = cancelled(submission(kSpins));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kCancelled);
  // The next one finds a device in order.
  auto next = test::judge("add_relu", kRight);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->outcome, Outcome::kCorrect);
}

/// A deadline that passes is no verdict. A submission must not be able to bring that about. The deadline goes by the clock,
/// the submission's limit by its own time. On a busy machine a compiler, or a submission that computes, gets too few cores
/// before the deadline, which is the machine's fault. So this one is built before, and waits: other load does not slow it.
TEST(Evaluator, DropQueued_EndsWaitingSubmissionsAndNoOthers) {
  // More than are built ahead, so that some wait until the first one ends.
  constexpr int kCount = 16;
  std::promise<void> checking;
  std::atomic<bool> told{false};
  std::vector<std::promise<Result<Verdict>>> promises(kCount);
  std::optional<std::uint64_t> first;
  for (int i = 0; i < kCount; ++i) {
    auto id = machine().evaluator().submit(
        submission(i == 0 ? kSpins : std::string(kRight) + "// " + std::to_string(i)),
        [&, i](Stage stage) {
          if (i == 0 && stage == Stage::kChecking && !told.exchange(true)) checking.set_value();
        },
        [&, i](Result<Verdict> v) {
          promises[static_cast<std::size_t>(i)].set_value(std::move(v));
        });
    ASSERT_TRUE(id) << id.error().message;
    if (i == 0) first = *id;
  }
  checking.get_future().wait();
  machine().evaluator().drop_queued();
  machine().evaluator().cancel(*first);
  int dropped = 0;
  for (std::size_t i = 1; i < kCount; ++i) {
    const Result<Verdict> result = promises[i].get_future().get();
    if (result) continue;  // it was built, or being built
    EXPECT_EQ(result.error().message, "dropped from the queue");
    ++dropped;
  }
  EXPECT_GE(dropped, 4);
  EXPECT_EQ(promises[0].get_future().get().error().message, "cancelled");
}

TEST(Evaluator, DeadlineThatTheSubmissionSpendsItself_IsATimeout) {
  Submission s = submission(
      "#include <cstdint>\n#include <time.h>\n"
      "extern \"C\" void add_relu(const float*, const float*, float*, int64_t) {\n"
      "for (timespec second{1, 0};;) nanosleep(&second, nullptr); }\n");
  ASSERT_EQ(cancelled(s).error().code, Code::kCancelled);
  s.deadline_s = 9;
  std::promise<Result<Verdict>> promise;
  auto future = promise.get_future();
  ASSERT_TRUE(machine().evaluator().submit(
      s, [](Stage) {}, [&](Result<Verdict> v) { promise.set_value(std::move(v)); }));
  auto result = future.get();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outcome, Outcome::kTimedOut) << result->reason;
  EXPECT_NE(result->reason.find("over the 3 s that all of its calls may take"), std::string::npos)
      << result->reason;
}

TEST(Evaluator, DeadlineThatPassesBeforeASubmissionRuns_IsNoVerdict) {
  Submission s = submission(kSpins);
  s.deadline_s = 1e-3;
  std::promise<Result<Verdict>> promise;
  auto future = promise.get_future();
  ASSERT_TRUE(machine().evaluator().submit(
      s, [](Stage) {}, [&](Result<Verdict> v) { promise.set_value(std::move(v)); }));
  auto result = future.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(result.error().message, "the deadline has passed");
}

TEST(Evaluator, RequiredKernels_ApplyToModulesOnly) {
  Task asks = *machine().task("add_relu");
  asks.own_kernels = "required";
  const auto verdict = machine().judge(std::make_shared<const Task>(std::move(asks)), kRight);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
}

TEST(Evaluator, SameSeed_GivesTheSameVerdict) {
  const std::string wrong =
      "#include <cstdint>\nextern \"C\" void add_relu(const float* x, const float* y, float* out, "
      "int64_t n) {\n"
      "for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i]; }\n";
  auto first = test::judge("add_relu", wrong, 99), second = test::judge("add_relu", wrong, 99);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->mismatch && second->mismatch);
  EXPECT_EQ(first->reason, second->reason);
  EXPECT_EQ(first->mismatch->got, second->mismatch->got);
  EXPECT_EQ(first->mismatch->wrong, second->mismatch->wrong);
}

TEST(Evaluator, ManySubmissions_AreAllAnswered) {
  constexpr int kMany = 24;
  std::mutex mutex;
  std::condition_variable changed;
  int wrong = 0, done = 0;
  for (int i = 0; i < kMany; ++i) {
    Submission s =
        submission(std::string("// ") + std::to_string(i % 6) + "\n#include <cstdint>\n" +
                   "extern \"C\" void add_relu(const float*, const float*, float*, int64_t) {}\n");
    s.episode = std::to_string(i);
    ASSERT_TRUE(machine().evaluator().submit(
        s, [](Stage) {},
        [&](Result<Verdict> v) {
          std::lock_guard lock(mutex);
          ++done;
          wrong += v && v->outcome == Outcome::kWrong;
          changed.notify_all();
        }));
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done == kMany; });
  EXPECT_EQ(wrong, kMany);
}

Result<Value> admit(const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  const EvaluatorOptions options = test::quick_options();
  return TaskAdmission(machine().launcher(), options).admit(task, seed);
}

TEST(Admission, TrivialAnswers_FailAndTheReferencePasses) {
  for (const char* id : {"add_relu", "sum", "softmax", "argmax"}) {
    auto report = admit(machine().task(id), 7);
    ASSERT_TRUE(report) << id << ": " << report.error().message;
    EXPECT_TRUE(report->find("admitted")->as_bool()) << id << ": " << to_json(*report);
  }
}

TEST(Admission, LooseTolerance_IsRefused) {
  Task loose = *machine().task("softmax");
  loose.id = "loose_softmax";
  loose.tolerance.atol = 2;
  auto report = admit(std::make_shared<const Task>(loose), 7);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->find("admitted")->as_bool());
}

Value admission_of(Task task, const std::string& id) {
  task.id = id;
  const auto report = admit(std::make_shared<const Task>(task), 7);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : Value::map({{"reasons", Value::array({""})}});
}

TEST(Admission, ToleranceThatBfloat16FitsInto_IsRefusedWithTheReason) {
  Task loose = *machine().task("add_relu");
  loose.tolerance.rtol = 0.01;
  const Value report = admission_of(loose, "rounded");
  EXPECT_FALSE(report.find("admitted")->as_bool());
  ASSERT_EQ(report.find("reasons")->as_array().size(), 1u) << to_json(report);
  EXPECT_EQ(report.find("reasons")->as_array()[0].as_string().find(
                "an answer rounded to bfloat16 passes every check"),
            0u)
      << to_json(report);
}

TEST(Admission, ReferenceThatCrashes_IsTheTasksMistake) {
  Task broken = *machine().task("add_relu");
  broken.backends["cpu"].reference.text += "#error not yet\n";
  const auto unbuilt = admit(std::make_shared<const Task>(broken), 7);
  ASSERT_FALSE(unbuilt);
  EXPECT_EQ(unbuilt.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(unbuilt.error().message.find("the reference of task add_relu does not build: "), 0u)
      << unbuilt.error().message;
}

std::int64_t cache_misses(const Value& stats) { return stats.find("misses")->as_int(); }

/// The cache keeps only the last build, so each build that is asked for is a miss.
TEST(TrustedCodes, OfAJob_AreNotBuiltAgainByItsLane) {
  EvaluatorOptions options = test::quick_options();
  options.cache_mb = 0;
  const auto machine = test::Machine::start(options);
  ASSERT_TRUE(machine) << machine.error().message;
  const auto verdict = (*machine)->judge((*machine)->task("add_relu"), kRight);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
  const Value stats = (*machine)->evaluator().stats();
  EXPECT_EQ(cache_misses(*stats.find("build_cache")), 3)
      << "expected the submission, the reference and the baseline";
}

TEST(TrustedCodes, ThatAJobHas_AreNotBuiltAgain) {
  const EvaluatorOptions options = test::quick_options();
  BuildPool builds(machine().launcher(), options, nullptr);
  const Task& task = *machine().task("add_relu");
  TrustedCodes codes;
  build_trusted(task, options, builds, codes);
  ASSERT_NE(codes.reference, nullptr);
  ASSERT_NE(codes.baseline, nullptr);
  EXPECT_NE(codes.reference->built, codes.baseline->built);
  const TrustedCodes first = codes;
  const Value before = builds.cache_stats();
  build_trusted(task, options, builds, codes);
  EXPECT_EQ(codes.reference, first.reference);
  EXPECT_EQ(codes.baseline, first.baseline);
  EXPECT_EQ(builds.cache_stats(), before);
}

TEST(TrustedCodes, ReferenceThatDoesNotBuild_IsReportedByTheLane) {
  auto broken = std::make_shared<Task>(*machine().task("add_relu"));
  broken->id = "broken";
  broken->backends["cpu"].reference.text += "#error not yet\n";
  const EvaluatorOptions options = test::quick_options();
  BuildPool builds(machine().launcher(), options, nullptr);
  TrustedCodes codes;
  build_trusted(*broken, options, builds, codes);
  EXPECT_EQ(codes.reference, nullptr);
  EXPECT_NE(codes.baseline, nullptr);
  const auto verdict = machine().judge(broken, kRight);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(verdict.error().message.find("the reference of task broken does not build: "), 0u)
      << verdict.error().message;
}

TEST(Usable, BuildThatFailedOrIsIncomplete_IsNotUsed) {
  const auto code = [](bool ok, bool is_incomplete) {
    auto built = std::make_shared<Built>();
    built->ok = ok;
    built->is_incomplete = is_incomplete;
    return Result<TrustedCode>(TrustedCode{{}, std::move(built)});
  };
  EXPECT_NE(usable(code(true, false)), nullptr);
  EXPECT_EQ(usable(code(false, false)), nullptr);
  EXPECT_EQ(usable(code(true, true)), nullptr);
  EXPECT_EQ(usable(Result<TrustedCode>(unavailable("builder: broken pipe"))), nullptr);
}

TEST(Toolchain, MissingCompiler_IsReportedAtStart) {
  EvaluatorOptions options = test::quick_options();
  options.toolchains["c++"].compiler = "/usr/bin/no-such-compiler";
  auto evaluator = make_evaluator(machine().launcher(), options, "test");
  ASSERT_FALSE(evaluator);
  EXPECT_EQ(evaluator.error().message,
            "c++ compiler /usr/bin/no-such-compiler: cpu: build: start compiler "
            "/usr/bin/no-such-compiler: "
            "No such file or directory");
}

TEST(Toolchain, CompilerKilledForMemory_IsABuildFailure) {
  EvaluatorOptions options = test::quick_options();
  options.build_memory_mb = 300;
  auto evaluator = make_evaluator(machine().launcher(), options, "test");
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  std::promise<Result<Verdict>> promise;
  auto future = promise.get_future();
  ASSERT_TRUE((*evaluator)
                  ->submit(
                      submission("template <int n> struct A { static constexpr int v = A<n - 1>::v "
                                 "+ A<n - 2>::v + n; int x[n + 1]; };\n"
                                 "template <int n, int m> struct B { B<n - 1, m * 2> a; B<n - 1, m "
                                 "* 2 + 1> b; };\n"
                                 "template <int m> struct B<0, m> { int x[m % 7 + 1]; };\n"
                                 "extern \"C\" int add_relu() { return sizeof(B<22, 1>); }\n"),
                      [](Stage) {}, [&](Result<Verdict> v) { promise.set_value(std::move(v)); }));
  auto result = future.get();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outcome, Outcome::kBuildFailed);
  EXPECT_EQ(result->reason, "the compiler was ended: it needed more than 300 MB");
}

/// Whether a process is ours: another's compiler may run on this machine.
bool descends_from_here(int pid) {
  for (int depth = 0; pid > 1 && depth < 16; ++depth) {
    if (pid == ::getpid()) return true;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return false;
    pid = std::atoi(text.c_str() + name_end + 4);  // ") S PARENT"
  }
  return false;
}

bool kill_one_of_ours(const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "comm");
    std::string found;
    if (pid <= 0 || !std::getline(file, found) || found != name) continue;
    if (descends_from_here(pid)) return ::kill(pid, SIGKILL) == 0;
  }
  return false;
}

TEST(Toolchain, CompilerKilledByTheMachine_IsRestarted) {
  // Takes a compiler a second, so that it is there to be killed.
  const std::string slow =
      "template <int n, int m> struct B { B<n - 1, m * 2> a; B<n - 1, m * 2 + 1> b; };\n"
      "template <int m> struct B<0, m> { int x[m % 7 + 1]; };\n"
      "static_assert(sizeof(B<14, 1>) > 1);\n";
  std::promise<Result<Verdict>> promise;
  std::promise<void> building;
  std::atomic<bool> told{false};
  auto future = promise.get_future();
  ASSERT_TRUE(machine().evaluator().submit(
      submission(slow + kRight),
      [&](Stage stage) {
        if (stage == Stage::kBuilding && !told.exchange(true)) building.set_value();
      },
      [&](Result<Verdict> v) { promise.set_value(std::move(v)); }));
  building.get_future().wait();
  bool killed = false;
  while (!killed && future.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    killed = kill_one_of_ours("cc1plus");
  }
  EXPECT_TRUE(killed);
  auto result = future.get();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outcome, Outcome::kCorrect) << result->reason << result->diagnostics;
}

TEST(Toolchain, SourceWithTheTextOfAKilledCompiler_IsABuildFailure) {
  const auto verdict = test::judge(
      "add_relu",
      "#line 1 \"g++: fatal error: Killed signal terminated program cc1plus\"\n#error no\n");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kBuildFailed);
  EXPECT_EQ(verdict->reason,
            "the compiler failed in every attempt without an error message for the source");
}

TEST(Noise, WiderThanAllowed_IsMeasuredAgainAndThenAFault) {
  EvaluatorOptions options = test::quick_options();
  options.measure.max_interval = 1e-9;  // narrower than any clock shows
  const auto machine = test::Machine::start(options);
  ASSERT_TRUE(machine) << machine.error().message;
  const auto verdict = (*machine)->judge((*machine)->task("add_relu"), kRight);
  ASSERT_FALSE(verdict) << verdict->reason;
  EXPECT_EQ(verdict.error().code, Code::kUnavailable);
  EXPECT_NE(verdict.error().message.find("raise evaluate.max_interval"), std::string::npos)
      << verdict.error().message;
  // Nothing is measured of a wrong one.
  const auto wrong = (*machine)->judge((*machine)->task("add_relu"),
                                       "extern \"C\" void add_relu(const float*, const float*, "
                                       "float*, long) {}");
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_EQ(wrong->outcome, Outcome::kWrong);
}

TEST(ConfirmationRun, OfAnHonestWinner_CostsTimeAndNothingElse) {
  EvaluatorOptions options = test::quick_options();
  options.suspect_factor = 1.2;
  auto machine = test::Machine::start(options);
  ASSERT_TRUE(machine) << machine.error().message;
  const auto fast = read_file(test::tasks_dir() / "gelu/golden/correct_fast.cpp");
  ASSERT_TRUE(fast) << fast.error().message;
  const auto winner = (*machine)->judge((*machine)->task("gelu"), *fast, 3);
  ASSERT_TRUE(winner) << winner.error().message;
  EXPECT_EQ(winner->outcome, Outcome::kCorrect) << winner->reason;
  EXPECT_GT(winner->stage_ms.at("second_look"), 0);
  // "disagreed" only where another load of the machine was worth a third.
  const bool agreed = winner->caught != caught::kSecondLook;
  EXPECT_EQ(winner->second_look, agreed ? "agreed" : "disagreed");
  const Value stats = (*machine)->evaluator().stats();
  const Value& mine = *stats.find("clients")->find("test");
  EXPECT_EQ(mine.find("judged")->as_int(), 1);
  EXPECT_EQ(mine.find("second_looks")->find(winner->second_look)->as_int(), 1);
}

/// Judges a right and a crashing submission on a machine that allows less.
void expect_judges(const LauncherOptions& less) {
  auto weak = test::Machine::start(test::quick_options(), less);
  ASSERT_TRUE(weak) << weak.error().message;
  auto right = (*weak)->judge((*weak)->task("add_relu"), kRight);
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ(right->outcome, Outcome::kCorrect) << right->reason;
  auto crash = (*weak)->judge((*weak)->task("add_relu"),
                              "extern \"C\" void add_relu() { __builtin_trap(); }");
  ASSERT_TRUE(crash) << crash.error().message;
  EXPECT_EQ(crash->signal, "SIGILL") << crash->reason;
}

TEST(MachinesWithLess, WithPtraceOnly_SubmissionsAreJudged) {
  LauncherOptions less;
  less.freezer = "ptrace";
  expect_judges(less);
}

TEST(MachinesWithLess, WithoutNamespaces_SubmissionsAreJudged) {
  LauncherOptions less;
  less.maximum = IsolationLevel::kSeparated;
  expect_judges(less);
}

TEST(MachinesWithLess, WithFiltersOnly_SubmissionsAreJudged) {
  LauncherOptions less;
  less.maximum = IsolationLevel::kFiltered;
  expect_judges(less);
}

}  // namespace
}  // namespace hone
