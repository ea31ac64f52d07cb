// Every shipped task for the CPU: its tolerance follows from its reference, trivial answers fail, and it has golden
// submissions of each kind.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "base/files.hpp"
#include "datasets/folder.hpp"
#include "datasets/open_tasks.hpp"
#include "datasets/workbench.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;
using workbench::Call;
using workbench::Case;
using workbench::Function;

/// Printed on failure; HONE_TEST_SEED repeats a run.
std::uint64_t seed() {
  const char* given = std::getenv("HONE_TEST_SEED");
  return given == nullptr ? 20260711 : std::strtoull(given, nullptr, 10);
}

std::vector<std::string> shipped_ids() {
  std::vector<std::string> ids;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_tasks())) {
    if (fs::exists(entry.path() / "reference.cpp")) ids.push_back(entry.path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

struct Golden {
  Source source;
  std::string expects;  ///< "correct speedup>1", "wrong", …
};

std::vector<Golden> goldens(const std::string& id) {
  std::vector<Golden> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_tasks() / id / "golden")) {
    if (entry.path().extension() == ".cu") continue;
    const std::string text = read_file(entry.path()).value();
    const std::string first = text.substr(0, text.find('\n'));
    constexpr std::string_view kPrefix = "// expect: ";
    all.push_back({{entry.path().filename().string(), text},
                   first.starts_with(kPrefix) ? first.substr(kPrefix.size()) : "no expectation"});
  }
  std::sort(all.begin(), all.end(),
            [](const Golden& a, const Golden& b) { return a.source.name < b.source.name; });
  return all;
}

class EachTask : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto dataset = open_tasks(shipped_tasks());
    ASSERT_TRUE(dataset.ok()) << dataset.error().message;
    auto task = dataset.value()->get(GetParam());
    ASSERT_TRUE(task.ok()) << task.error().message;
    task_ = task_for_backend(*task, "cpu").value();
    const auto built = workbench::build(task_, task_.backends.at("cpu").reference,
                                        {"reference", "exact"}, folder_.path());
    ASSERT_TRUE(built.ok()) << built.error().message;
    reference_ = workbench::load(built.value(), "reference");
    exact_ = workbench::load(built.value(), "exact");
  }

  bool exactly_equal() const {
    return task_.tolerance.rtol == 0 && task_.tolerance.atol == 0 && task_.tolerance.rms == 0;
  }

  /// Whether a library's entry answers every case within the tolerance.
  bool right_everywhere(Function entry) const {
    for (const Case& one : workbench::cases(task_, false, seed())) {
      const Call exact(task_, one, true), got(task_, one, false);
      exact.run(exact_);
      got.run(entry);
      if (!(workbench::worst_share(task_, got, exact) <= 1)) return false;
    }
    return true;
  }

  /// Runs right_everywhere in a process of its own: "correct", "wrong" or "crashed".
  std::string outcome(const fs::path& library) const {
    const pid_t child = fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) std::signal(signal, SIG_DFL);
      alarm(60);
      _exit(right_everywhere(workbench::load(library, task_.entry)) ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "timed out" : "crashed";
    return WEXITSTATUS(status) == 0 ? "correct" : "wrong";
  }

  Folder folder_;
  Task task_;
  Function reference_ = nullptr, exact_ = nullptr;
};

TEST_P(EachTask, Tolerance_FollowsFromTheReference) {
  double worst = 0;
  std::string where;
  for (const Case& one : workbench::cases(task_, true, seed())) {
    const Call exact(task_, one, true), plain(task_, one, false);
    exact.run(exact_);
    plain.run(reference_);
    const double share = workbench::worst_share(task_, plain, exact);
    if (share > worst) where = one.name();
    worst = std::max(worst, share);
  }
  std::cout << task_.id << ": the reference uses " << worst << " of its tolerance (" << where
            << ")\n";
  EXPECT_LE(worst, 0.5) << where << ", seed " << seed();
  if (!exactly_equal()) {
    EXPECT_GE(worst, 1.0 / 256) << "the tolerance is far wider than the reference needs";
  }
}

/// Every output made by `make(tensor's dtype, its exact values)` in the plain dtype.
template <typename Make>
void answer(const Task& task, const Call& exact, const Call& got, Make make) {
  for (std::size_t i = 0; i < task.tensors.size(); ++i) {
    if (task.tensors[i].role == Role::kIn) continue;
    const DType dtype = task.tensors[i].dtype;
    if (dtype == DType::kF32) {
      const auto* from = reinterpret_cast<const double*>(exact.data(i));
      auto* to = reinterpret_cast<float*>(got.data(i));
      double mean = 0;
      for (std::uint64_t e = 0; e < got.count(i); ++e) mean += from[e];
      mean /= static_cast<double>(got.count(i));
      for (std::uint64_t e = 0; e < got.count(i); ++e) {
        to[e] = static_cast<float>(make(from[e], mean));
      }
    } else {
      ASSERT_EQ(dtype, DType::kI32);
      const auto* from = reinterpret_cast<const std::int32_t*>(exact.data(i));
      auto* to = reinterpret_cast<std::int32_t*>(got.data(i));
      double mean = 0;
      for (std::uint64_t e = 0; e < got.count(i); ++e) mean += from[e];
      mean /= static_cast<double>(got.count(i));
      for (std::uint64_t e = 0; e < got.count(i); ++e) {
        to[e] = static_cast<std::int32_t>(make(from[e], mean));
      }
    }
  }
}

double to_bf16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0x8000u) & 0xffff0000u);
}

TEST_P(EachTask, TrivialAndImpreciseAnswers_FailOnTheTimedShape) {
  const Case timed{task_.timed, task_.families.front(), seed()};
  const Call exact(task_, timed, true), got(task_, timed, false);
  EXPECT_LE(got.bytes(), std::uint64_t{24} << 20);
  exact.run(exact_);
  const auto share = [&](auto make) {
    answer(task_, exact, got, make);
    return workbench::worst_share(task_, got, exact);
  };
  EXPECT_LE(share([](double right, double) { return right; }), 1) << "the right answer fails";
  EXPECT_GT(share([](double, double) { return 0.0; }), 1) << "zeros pass";
  EXPECT_GT(share([](double, double) { return 1.0; }), 1) << "ones pass";
  EXPECT_GT(share([](double, double mean) { return mean; }), 1) << "the mean passes";
  const bool floats = std::any_of(task_.tensors.begin(), task_.tensors.end(), [](const Tensor& t) {
    return t.role != Role::kIn && dtype_is_float(t.dtype);
  });
  if (floats) {
    EXPECT_GT(share([](double right, double) { return to_bf16(right); }), 1) << "bf16 passes";
  }
  const Call yesterday(task_, Case{task_.timed, task_.families.front(), seed() + 1}, true);
  yesterday.run(exact_);
  answer(task_, yesterday, got, [](double right, double) { return right; });
  EXPECT_GT(workbench::worst_share(task_, got, exact), 1) << "yesterday's answer passes";
}

TEST_P(EachTask, Baseline_IsCorrect) {
  const auto built =
      workbench::build(task_, task_.backends.at("cpu").baseline, {task_.entry}, folder_.path());
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_EQ(outcome(built.value()), "correct");
}

/// judged_test checks the outcome of each golden submission.
TEST(GoldenSubmissions, EachTask_HasFastSlowAndWrongOnes) {
  for (const std::string& id : shipped_ids()) {
    std::set<std::string> kinds;
    for (const Golden& golden : goldens(id)) {
      EXPECT_EQ(golden.source.text.find("\n// "), golden.source.text.find('\n'))
          << id << "/golden/" << golden.source.name << " lacks a comment in its second line";
      kinds.insert(golden.expects);
    }
    for (const char* kind : {"correct speedup>1", "correct speedup<1", "wrong"})
      EXPECT_TRUE(kinds.contains(kind)) << id << " has no golden submission that is " << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, EachTask, testing::ValuesIn(shipped_ids()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace hone
